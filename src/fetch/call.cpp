#include "fetch/call.hpp"

#include <array>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/authority.hpp"

namespace weir::fetch {
namespace {

constexpr std::size_t most_head = 64 * 1024;
/// As short as the reaction to a key should be.
constexpr auto longest_run = std::chrono::milliseconds(10);

}  // namespace

Call::Call(asio::io_context& io, Request request, Done done)
    : io_(io), request_(std::move(request)), done_(std::move(done)), dialer_(io) {}

std::shared_ptr<Call> Call::start(asio::io_context& io, Request request, Done done) {
  const std::shared_ptr<Call> call(new Call(io, std::move(request), std::move(done)));
  call->dialer_.set_deadline(std::chrono::steady_clock::now() + call->request_.timeout);
  asio::post(io, [call] { loop::spawn(call->io_, run(call)); });
  return call;
}

void Call::cancel() {
  done_ = nullptr;
  dialer_.give_up();
}

loop::Task<> Call::run(std::shared_ptr<Call> self) {
  Result<Answer> result = co_await self->exchange();
  self->finish(std::move(result));
}

void Call::finish(Result<Answer> result) {
  dialer_.clear_deadline();
  dialer_.stream().close();
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(result));
}

loop::Task<Result<Answer>> Call::exchange() {
  // A variable, because GCC 12 destroys parts of a temporary in a co_await expression twice.
  loop::Dialer::Server server{.host = request_.url.host,
                              .port = request_.url.port,
                              .unix_path = request_.unix_path,
                              .tls = request_.url.is_secure ? request_.tls : nullptr};
  std::string problem = co_await dialer_.connect(std::move(server));
  if (!problem.empty()) co_return Problem{std::move(problem)};
  dialer_.set_phase("waiting for the answer");
  const std::string text = request_text();
  const error_code ec = co_await dialer_.stream().write(text);
  if (ec) co_return Problem{dialer_.failure("cannot send the request", ec)};
  http::AnswerReader answer({.head = most_head,
                             .body = request_.most_body,
                             .reads_any_status = request_.reads_any_status,
                             .reads_body = request_.reads_body});
  problem = co_await read_answer(answer);
  if (!problem.empty()) co_return Problem{std::move(problem)};
  co_return Answer{.status = answer.status(),
                   .body = answer.take_body(),
                   .fresh_for = answer.fresh_for(),
                   .retry_after = answer.retry_after()};
}

loop::Task<std::string> Call::read_answer(http::AnswerReader& answer) {
  using State = http::AnswerReader::State;
  std::array<char, 16 * 1024> piece;
  error_code ec;
  State state = answer.state();
  while (state == State::head || state == State::body) {
    const std::size_t n = co_await dialer_.stream().read(asio::buffer(piece), ec);
    if (dialer_.is_over()) co_return dialer_.failure("", {});
    if (ec && ec != asio::error::eof) co_return dialer_.failure("the connection failed", ec);
    state = ec ? answer.end() : answer.read({piece.data(), n});
    if (state == State::body) dialer_.set_phase("reading the answer");
  }
  co_return answer.problem();
}

std::string Call::request_text() const {
  const http::Url& url = request_.url;
  std::string text = request_.method + " " + url.target +
                     " HTTP/1.1\r\nHost: " + http::authority_of(url.host, url.port, url.is_secure) +
                     "\r\nUser-Agent: weir\r\nAccept: " + request_.accept +
                     "\r\nAccept-Encoding: identity\r\nConnection: close\r\n";
  if (!request_.token.empty()) text += "Authorization: Bearer " + request_.token.reveal() + "\r\n";
  for (const auto& [name, value] : request_.fields)
    text += name + ": " + value.reveal() + "\r\n";
  if (!request_.json.empty()) {
    text += "Content-Type: application/json\r\nContent-Length: " +
            std::to_string(request_.json.size()) + "\r\n";
  }
  return text + "\r\n" + request_.json;
}

Result<Answer> answer_to(Request request) {
  asio::io_context io(1);
  Result<Answer> result = Problem{};
  Call::start(io, std::move(request), [&](Result<Answer> answer) {
    result = std::move(answer);
    io.stop();
  });
  io.run();
  return result;
}

std::optional<Result<Answer>> answer_unless(const std::function<bool()>& gives_up,
                                            Request request) {
  asio::io_context io(1);
  std::optional<Result<Answer>> result;
  const auto call = Call::start(io, std::move(request),
                                [&](Result<Answer> answer) { result = std::move(answer); });
  while (!result && !gives_up())
    io.run_for(longest_run);
  if (!result) call->cancel();
  io.restart();
  io.run();  // the rest of the call
  return result;
}

}  // namespace weir::fetch
