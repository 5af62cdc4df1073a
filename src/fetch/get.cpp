#include "fetch/get.hpp"

#include <array>
#include <chrono>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/authority.hpp"

namespace weir::fetch {
namespace {

constexpr std::size_t most_head = 64 * 1024;

}  // namespace

Get::Get(asio::io_context& io, Request request, Done done)
    : io_(io),
      request_(std::move(request)),
      done_(std::move(done)),
      stream_(io),
      deadline_(io.get_executor()),
      lookup_ends_(io.get_executor()),
      turn_ends_(io.get_executor()) {}

std::shared_ptr<Get> Get::start(asio::io_context& io, Request request, Done done) {
  const std::shared_ptr<Get> get(new Get(io, std::move(request), std::move(done)));
  get->attempt_.begin(std::chrono::steady_clock::now(), get->request_.timeout);
  get->deadline_.expires_at(get->attempt_.deadline());
  get->deadline_.async_wait([get](const error_code& ec) {
    if (!ec) get->give_up();
  });
  asio::post(io, [get] { loop::spawn(get->io_, run(get)); });
  return get;
}

void Get::cancel() {
  done_ = nullptr;
  deadline_.cancel();
  give_up();
}

/// A task between two operations reads the flag.
void Get::give_up() {
  is_over_ = true;
  lookup_ends_.cancel();
  turn_ends_.cancel();
  stream_.close();
}

loop::Task<> Get::run(std::shared_ptr<Get> self) {
  Result<Answer> result = co_await self->exchange();
  self->finish(std::move(result));
}

void Get::finish(Result<Answer> result) {
  deadline_.cancel();
  stream_.close();
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(result));
}

loop::Task<Result<Answer>> Get::exchange() {
  phase_ = "looking up the name";
  if (is_over_) co_return Problem{failure("", {})};
  const Result<Addresses> addresses = co_await find_addresses();
  if (!addresses) co_return addresses.error();
  std::string problem = co_await connect(*addresses);
  if (!problem.empty()) co_return Problem{std::move(problem)};
  phase_ = "waiting for the answer";
  const std::string text = request_text();
  const error_code ec = co_await stream_.write(text);
  if (ec) co_return Problem{failure("cannot send the request", ec)};
  http::AnswerReader answer({.head = most_head, .body = request_.most_body});
  problem = co_await read_answer(answer);
  if (!problem.empty()) co_return Problem{std::move(problem)};
  co_return Answer{
      .status = answer.status(), .body = answer.take_body(), .fresh_for = answer.fresh_for()};
}

loop::Task<Result<Addresses>> Get::find_addresses() {
  error_code ec;
  const auto literal = asio::ip::make_address(request_.url.host, ec);
  if (!ec) co_return Addresses{{literal, request_.url.port}};
  Result<Addresses> found = Problem{};
  const Lookup lookup(io_, request_.url.host, request_.url.port, [&](Result<Addresses> result) {
    found = std::move(result);
    lookup_ends_.cancel();
  });
  lookup_ends_.expires_at(loop::Timer::time_point::max());
  co_await lookup_ends_.async_wait(loop::into(ec));
  if (is_over_) co_return Problem{failure("", {})};
  if (!found) co_return Problem{"cannot look up the name: " + found.error().message};
  co_return found;
}

/// Connects, then starts TLS. Returns the problem, or nothing.
loop::Task<std::string> Get::connect(const Addresses& addresses) {
  phase_ = "connecting";
  error_code ec = co_await connect_any(addresses);
  if (ec || is_over_) co_return failure("cannot connect", ec);
  const int on = 1;
  ::setsockopt(stream_.socket().native(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!request_.url.is_secure) co_return std::string();
  phase_ = "in the TLS handshake";
  ec = co_await stream_.connect_tls(request_.tls, request_.url.host);
  if (ec || is_over_) co_return failure("TLS handshake", ec);
  co_return std::string();
}

/// Tries the addresses in turn. Returns the error of the last one.
loop::Task<error_code> Get::connect_any(const Addresses& addresses) {
  error_code ec;
  attempt_.set_addresses(addresses.size());
  while (attempt_.has_next() && !is_over_) {
    const ConnectAttempt::Address turn = attempt_.next(std::chrono::steady_clock::now());
    const auto& address = addresses[turn.index];
    stream_.socket().open(address.protocol().family(), ec);
    if (ec) continue;
    if (attempt_.has_next()) cancel_at(turn);
    connecting_ = turn.index;
    ec = co_await stream_.socket().connect(asio::generic::stream_protocol::endpoint(address));
    connecting_.reset();
    turn_ends_.cancel();
    if (!ec) break;
  }
  co_return ec;
}

/// Ends the attempt at this address when its time is over. A wait that has expired cannot be
/// cancelled, so it compares the index.
void Get::cancel_at(ConnectAttempt::Address address) {
  turn_ends_.expires_at(address.until);
  turn_ends_.async_wait([self = shared_from_this(), index = address.index](const error_code& ec) {
    if (!ec && self->connecting_ == index) self->stream_.cancel();
  });
}

loop::Task<std::string> Get::read_answer(http::AnswerReader& answer) {
  using State = http::AnswerReader::State;
  std::array<char, 16 * 1024> piece;
  error_code ec;
  State state = answer.state();
  while (state == State::head || state == State::body) {
    const std::size_t n = co_await stream_.read(asio::buffer(piece), ec);
    if (is_over_) co_return failure("", {});
    if (ec && ec != asio::error::eof) co_return failure("the connection failed", ec);
    state = ec ? answer.end() : answer.read({piece.data(), n});
    if (state == State::body) phase_ = "reading the answer";
  }
  co_return answer.problem();
}

/// A timeout, an error of TLS, or else `what` with `ec`.
std::string Get::failure(std::string_view what, const error_code& ec) const {
  if (is_over_) return "timed out while " + std::string(phase_);
  if (const auto tls_error = stream_.last_error(); !tls_error.empty())
    return "TLS: " + std::string(tls_error);
  // The stream reports this for TLS that ends too early.
  const bool is_cut = request_.url.is_secure && ec == asio::error::connection_aborted;
  return std::string(what).append(": ").append(
      is_cut ? "reset by the server, or closed without close_notify" : ec.message());
}

std::string Get::request_text() const {
  const Url& url = request_.url;
  return "GET " + url.target +
         " HTTP/1.1\r\nHost: " + http::authority_of(url.host, url.port, url.is_secure) +
         "\r\nUser-Agent: weir\r\nAccept: " + request_.accept +
         "\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n";
}

}  // namespace weir::fetch
