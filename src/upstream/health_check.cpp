#include "upstream/health_check.hpp"

#include <utility>

#include "http/answer_reader.hpp"

namespace weir::upstream {
namespace {

constexpr std::size_t most_head = 64 * 1024;

}  // namespace

HealthCheck::HealthCheck(asio::io_context& io, std::shared_ptr<PooledServer> server,
                         options::HealthCheck settings, std::uint64_t seed)
    : io_(io),
      server_(std::move(server)),
      settings_(std::move(settings)),
      request_("GET " + settings_.path + " HTTP/1.1\r\nHost: " + server_->settings().authority() +
               "\r\nUser-Agent: weir\r\nConnection: close\r\n\r\n"),
      spread_(seed %
              loop::ticks_in(std::min<Duration>(settings_.interval, std::chrono::seconds(1)))) {}

void HealthCheck::on_tick(std::uint64_t tick) {
  if (connection_) {
    if (tick > give_up_at_ || stopped_) cut();
    return;
  }
  if (next_at_ == 0) next_at_ = tick + spread_;
  if (stopped_ || tick < next_at_) return;
  next_at_ = tick + loop::ticks_in(settings_.interval);
  give_up_at_ = tick + loop::ticks_in(settings_.timeout);
  was_cut_ = false;
  was_asked_ = false;
  status_ = 0;
  connection_ = server_->make();
  connection_->is_check = true;
  loop::spawn(io_, run(shared_from_this(), tick));
}

void HealthCheck::stop() {
  stopped_ = true;
  if (connection_) cut();
}

/// A task between two operations reads the flag.
void HealthCheck::cut() {
  was_cut_ = true;
  connection_->stream.close();
}

loop::Task<> HealthCheck::run([[maybe_unused]] std::shared_ptr<HealthCheck> self,
                              std::uint64_t tick) {
  const error_code ec = co_await ask(tick);
  bool good = false;
  if (!ec) good = co_await is_answered_well();
  if (!good && was_asked_ && !stopped_) record_failure();
  connection_.reset();
  // Without a descriptor the check has no result.
  if (!stopped_ && ec != asio::error::no_descriptors) server_->checked(good);
}

/// Records why a server that accepted the connection failed the check.
void HealthCheck::record_failure() {
  std::string what = "got no answer in HTTP/1.1";
  if (was_cut_) {
    what = "was not answered in time";
  } else if (status_ != 0) {
    what = "was answered " + std::to_string(status_);
  }
  server_->note(connection_->stream.last_error(), "its health check " + what);
}

loop::Task<error_code> HealthCheck::ask(std::uint64_t tick) {
  error_code ec = co_await server_->resolve(tick, settings_.timeout);
  if (!ec && !was_cut_) ec = co_await server_->connect(*connection_);
  if (ec == asio::error::no_descriptors) co_return ec;
  if (ec || was_cut_) co_return asio::error::operation_aborted;
  was_asked_ = true;
  co_return co_await connection_->stream.write(request_);
}

loop::Task<bool> HealthCheck::is_answered_well() {
  http::AnswerReader answer({.head = most_head});
  loop::InputBuffer& input = connection_->input;
  error_code ec;
  while (status_ == 0) {
    const std::size_t n =
        co_await connection_->stream.read(asio::buffer(input.free_begin(), input.free_size()), ec);
    if (ec || was_cut_) co_return false;
    const auto state = answer.read({input.free_begin(), n});
    status_ = answer.status();
    if (status_ == 0 && state == http::AnswerReader::State::failed) co_return false;
  }
  co_return status_ >= 200 && status_ < 400;
}

}  // namespace weir::upstream
