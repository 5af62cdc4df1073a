// Before the first request: the PROXY header and TLS.
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "http/characters.hpp"
#include "identity/client_address.hpp"
#include "proxy/head_parser.hpp"
#include "proxy/proxy_protocol.hpp"
#include "proxy/session.hpp"
#include "tls/client_hello.hpp"

namespace weir::proxy {
namespace {

/// The beginning of a TLS connection, unread.
struct Arrived {
  std::size_t needed = 0;  ///< as tls::needed_for_hello()
  std::size_t size = 0;
  char first = 0;
  bool may_cost_much = true;  ///< the handshake; known when nothing more is needed
};

/// Apart from the task, whose frame would hold the bytes as long as the connection.
Arrived look_for_hello(Stream& stream, const tls::ServerContext& tls, error_code& ec) {
  std::array<char, tls::most_of_hello> bytes{};
  const std::size_t size = stream.peek(asio::buffer(bytes), ec);
  const std::string_view hello(bytes.data(), size);
  const std::size_t needed = tls::needed_for_hello(hello);
  return {.needed = needed,
          .size = size,
          .first = bytes[0],
          .may_cost_much = needed > 0 || tls.may_cost_much(hello)};
}

}  // namespace

Task<Session::Opening> Session::open(const Manner& manner) {
  arm(Phase::open, context_.generation->config.downstream.head_timeout);
  if (is_draining()) drain();
  if (manner.proxy_protocol && !co_await read_proxy_header()) co_return Opening::closed;
  const Opening opening = manner.tls ? co_await open_tls(manner.tls) : Opening::ready;
  co_return timed_out_ || aborted_ ? Opening::closed : opening;
}

Task<Session::Opening> Session::open_tls(const std::shared_ptr<const tls::ServerContext>& tls) {
  const Hello hello = co_await await_hello(*tls);
  if (hello.opening != Opening::ready) co_return hello.opening;
  Handshake handshake(context_.handshakes, stream_, hello.may_cost_much);
  handshake_ = &handshake;
  const error_code ec = co_await stream_.accept_tls(tls, &handshake);
  handshake_ = nullptr;
  if (!ec) handshake.end(Handshake::Outcome::completed);
  if (ec && timed_out_) handshake.end(Handshake::Outcome::timed_out);
  co_return ec ? Opening::closed : Opening::ready;
}

/// Waits until the first step of the handshake has all it needs. Before that a connection is not a
/// handshake, so a client must send a whole ClientHello to displace the handshake of another one.
Task<Session::Hello> Session::await_hello(const tls::ServerContext& tls) {
  error_code ec;
  std::size_t awaited = 1;
  bool may_cost_much = true;
  for (;;) {
    if (timed_out_ || aborted_) co_return Hello{};
    co_await stream_.socket().async_wait(Socket::wait_read, into(ec));
    if (ec || timed_out_ || aborted_) co_return Hello{};
    const Arrived arrived = look_for_hello(stream_, tls, ec);
    may_cost_much = arrived.may_cost_much;
    if (ec == asio::error::would_block) continue;
    if (ec) co_return Hello{};
    // No record of TLS, and no hello of an older version, begins with a letter (RFC 8446
    // section 5.1).
    if (http::is_alpha(arrived.first)) co_return Hello{.opening = Opening::plain};
    if (arrived.needed == 0) break;
    if (arrived.size < awaited) {  // The rest cannot come, or the kernel has no room for it.
      if (stream_.has_left()) co_return Hello{};
      break;
    }
    awaited = arrived.needed;
    stream_.wait_for_bytes(awaited);
  }
  if (awaited > 1) stream_.wait_for_bytes(1);
  co_return Hello{.opening = Opening::ready, .may_cost_much = may_cost_much};
}

/// Answers a request in plain text where TLS is expected. Anything that is not a request is closed
/// without an answer.
Task<> Session::refuse_plain() {
  if (co_await read_head() != Failure::none) co_return;
  const auto head = input_.data().substr(0, exchange_->head_size);
  const auto line = parse_request_head(head, exchange_->fields);
  if (!line) co_return;
  exchange_->request.method = line->method;
  exchange_->request.version_minor = static_cast<std::uint8_t>(line->version % 10);
  exchange_->request.fields = exchange_->fields;
  context_.warn("a client sent plain HTTP to a port that expects TLS and was answered 400",
                "plain HTTP");
  co_await answer(answer_to(Failure::plain_on_tls));
  finish();
  co_await linger();
}

/// Takes exactly the header off the socket: what follows may be TLS, which reads it itself. Until
/// the header is complete all that has arrived belongs to it.
Task<bool> Session::read_proxy_header() {
  if (!peer_is_trusted_) {
    context_.warn("closed a connection from " + peer_.to_string() +
                      ", who is no trusted proxy, where the PROXY protocol is required",
                  "untrusted PROXY");
    co_return false;
  }
  std::array<char, 256> piece{};
  std::string arrived;
  error_code ec;
  for (;;) {
    if (timed_out_ || aborted_) co_return false;
    co_await stream_.socket().async_wait(Socket::wait_read, into(ec));
    if (ec || !stream_.is_open()) co_return false;
    const int descriptor = stream_.socket().native_handle();
    const ssize_t seen = ::recv(descriptor, piece.data(), piece.size(), MSG_PEEK | MSG_DONTWAIT);
    if (seen < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (seen <= 0) co_return false;
    const std::size_t before = arrived.size();
    arrived.append(piece.data(), static_cast<std::size_t>(seen));
    const ProxyHeader header = parse_proxy_header(arrived);
    if (header.state == ProxyHeader::State::malformed) {
      context_.warn(
          "closed a connection from " + peer_.to_string() + " without a valid PROXY header",
          "invalid PROXY header");
      co_return false;
    }
    const bool is_complete = header.state == ProxyHeader::State::complete;
    const std::size_t taken = is_complete ? header.size - before : static_cast<std::size_t>(seen);
    if (::recv(descriptor, piece.data(), taken, MSG_DONTWAIT) != static_cast<ssize_t>(taken))
      co_return false;
    if (!is_complete) continue;
    if (header.source) {
      peer_ = *header.source;
      peer_is_trusted_ = is_trusted(peer_);
    }
    co_return true;
  }
}

}  // namespace weir::proxy
