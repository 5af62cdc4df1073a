#include "upstream/health_check.hpp"

#include <utility>

#include "http/answer_reader.hpp"
#include "upstream/http2_stream.hpp"

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
  if (is_running_) {
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
  is_running_ = true;
  connection_ = server_->make();
  connection_->is_check = true;
  loop::spawn(io_, run(shared_from_this(), tick));
}

void HealthCheck::stop() {
  stopped_ = true;
  if (is_running_) cut();
}

/// A task between two operations reads the flag.
void HealthCheck::cut() {
  was_cut_ = true;
  if (connection_) connection_->stream.close();
  if (http2_) http2_->close();
}

loop::Task<> HealthCheck::run([[maybe_unused]] std::shared_ptr<HealthCheck> self,
                              std::uint64_t tick) {
  const error_code ec = co_await connect(tick);
  if (!ec) {
    was_asked_ = true;
    if (connection_->speaks_http2)
      co_await ask_http2();
    else
      co_await ask();
  }
  const bool good = status_ >= 200 && status_ < 400;
  if (!good && was_asked_ && !stopped_) record_failure();
  connection_.reset();
  is_running_ = false;
  // Without a descriptor the check has no result.
  if (!stopped_ && ec != asio::error::no_descriptors) server_->checked(good);
}

/// Records why a server that accepted the connection failed the check.
void HealthCheck::record_failure() {
  std::string what = "got no answer in HTTP";
  if (was_cut_) {
    what = "was not answered in time";
  } else if (status_ != 0) {
    what = "was answered " + std::to_string(status_);
  }
  const auto tls_error = connection_ ? connection_->stream.last_error() : std::string_view{};
  server_->note(tls_error, "its health check " + what);
}

loop::Task<error_code> HealthCheck::connect(std::uint64_t tick) {
  error_code ec = co_await server_->resolve(tick, settings_.timeout);
  if (!ec && !was_cut_) ec = co_await server_->connect(*connection_);
  if (ec == asio::error::no_descriptors) co_return ec;
  co_return ec || was_cut_ ? error_code(asio::error::operation_aborted) : error_code{};
}

/// Sets the status, if the head of an answer arrives.
loop::Task<> HealthCheck::ask() {
  if (co_await connection_->stream.write(request_)) co_return;
  http::AnswerReader answer({.head = most_head});
  loop::InputBuffer& input = connection_->input;
  error_code ec;
  while (status_ == 0) {
    const std::size_t n =
        co_await connection_->stream.read(asio::buffer(input.free_begin(), input.free_size()), ec);
    if (ec || was_cut_) co_return;
    const auto state = answer.read({input.free_begin(), n});
    status_ = answer.status();
    if (status_ == 0 && state == http::AnswerReader::State::failed) co_return;
  }
}

loop::Task<> HealthCheck::ask_http2() {
  http2_ = std::make_shared<Http2Connection>(io_, std::move(connection_));
  http2_->start();
  {
    Http2StreamMemory memory;
    Http2Stream stream(io_, http2_, memory);
    stream.fields().add("User-Agent", "weir");
    stream.begin({.method = "GET", .authority = server_->authority(), .path = settings_.path},
                 server_->settings().secure ? "https" : "http");
    stream.end(http::no_fields);
    error_code ec;
    stream.send(ec);
    Http2Stream::ReceivedHead head;
    while (!ec && !was_cut_ && head.status < 200 && !head.is_invalid) {
      if (stream.take_head(head)) continue;
      if (stream.is_malformed()) break;
      ec = co_await stream.fill();
    }
    const bool is_final = head.status >= 200 && !head.is_invalid;
    status_ = ec || was_cut_ || !is_final ? 0 : head.status;
  }
  std::exchange(http2_, nullptr)->close();
}

}  // namespace weir::upstream
