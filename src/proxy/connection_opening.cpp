#include "proxy/connection_opening.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "http/characters.hpp"
#include "http/proxy_protocol.hpp"
#include "identity/client_address.hpp"
#include "loop/handshakes.hpp"
#include "loop/socket.hpp"
#include "tls/client_hello.hpp"

namespace weir::proxy {
namespace {

/// The first bytes of a TLS connection, unread.
struct Arrived {
  std::size_t needed = 0;  ///< as tls::needed_for_hello()
  std::size_t size = 0;
  char first = 0;
  bool may_cost_much = true;  ///< the handshake; known when nothing more is needed
};

/// Separate from the task, whose frame would hold the bytes for the lifetime of the connection.
Arrived look_for_hello(loop::Stream& stream, const tls::ServerContext& tls, error_code& ec) {
  std::array<char, tls::most_of_hello> bytes{};
  const std::size_t size = loop::peek(stream.socket(), asio::buffer(bytes), ec);
  const std::string_view hello(bytes.data(), size);
  const std::size_t needed = tls::needed_for_hello(hello);
  return {.needed = needed,
          .size = size,
          .first = bytes[0],
          .may_cost_much = needed > 0 || tls.may_cost_much(hello)};
}

}  // namespace

loop::Task<ConnectionOpening::Outcome> ConnectionOpening::run(const ListenerOptions& options) {
  if (options.proxy_protocol) {
    if (!co_await read_proxy_header()) co_return Outcome::closed;
    if (!admit_from(connection_.context, peer_, connection_.address_slot)) {
      connection_.stream.reset();
      co_return Outcome::closed;
    }
  }
  const Outcome outcome = options.tls ? co_await open_tls(options.tls) : Outcome::ready;
  co_return is_over() ? Outcome::closed : outcome;
}

loop::Task<ConnectionOpening::Outcome> ConnectionOpening::open_tls(
    const std::shared_ptr<const tls::ServerContext>& tls) {
  const Hello hello = co_await await_hello(*tls);
  if (hello.outcome != Outcome::ready) co_return hello.outcome;
  loop::Stream& stream = connection_.stream;
  loop::Handshake handshake(connection_.context.handshakes, stream, hello.may_cost_much);
  const Watched watched(watchdog_, handshake);
  const error_code ec = co_await stream.accept_tls(tls, &handshake);
  if (!ec) handshake.end(loop::Handshake::Outcome::completed);
  if (ec && watchdog_.timed_out()) handshake.end(loop::Handshake::Outcome::timed_out);
  co_return ec ? Outcome::closed : Outcome::ready;
}

/// Waits until the first step of the handshake has all the bytes it needs. Before that a connection
/// does not count as a handshake, so a client must send a whole ClientHello to displace another
/// handshake.
loop::Task<ConnectionOpening::Hello> ConnectionOpening::await_hello(const tls::ServerContext& tls) {
  loop::Stream& stream = connection_.stream;
  error_code ec;
  std::size_t awaited = 1;
  bool may_cost_much = true;
  for (;;) {
    if (is_over()) co_return Hello{};
    co_await stream.socket().wait(loop::Direction::read, ec);
    if (ec || is_over()) co_return Hello{};
    const Arrived arrived = look_for_hello(stream, tls, ec);
    may_cost_much = arrived.may_cost_much;
    if (ec == asio::error::would_block) {
      stream.socket().emptied();
      continue;
    }
    if (ec) co_return Hello{};
    // Neither a TLS record nor a hello of an older version begins with a letter (RFC 8446 section
    // 5.1).
    if (http::is_alpha(arrived.first)) co_return Hello{.outcome = Outcome::plain};
    if (arrived.needed == 0) break;
    if (arrived.size < awaited) {  // The rest cannot come, or the kernel has no room for it.
      if (loop::has_left(stream.socket())) co_return Hello{};
      break;
    }
    awaited = arrived.needed;
    loop::wait_for_bytes(stream.socket(), awaited);
    stream.socket().emptied();
  }
  if (awaited > 1) loop::wait_for_bytes(stream.socket(), 1);
  co_return Hello{.outcome = Outcome::ready, .may_cost_much = may_cost_much};
}

/// Reads exactly the header from the socket: the bytes after it may be TLS, which OpenSSL reads
/// itself. Until the header is complete, all bytes that have arrived belong to it.
loop::Task<bool> ConnectionOpening::read_proxy_header() {
  if (!identity::is_trusted(connection_.context.generation->options.client_address, peer_)) {
    warn_of_peer(", who is no trusted proxy, where the PROXY protocol is required",
                 "untrusted PROXY");
    co_return false;
  }
  loop::Stream& stream = connection_.stream;
  std::array<char, 256> piece{};
  std::string arrived;
  error_code ec;
  for (;;) {
    if (is_over()) co_return false;
    co_await stream.socket().wait(loop::Direction::read, ec);
    if (ec || !stream.is_open()) co_return false;
    const int descriptor = stream.socket().native();
    const ssize_t seen = ::recv(descriptor, piece.data(), piece.size(), MSG_PEEK | MSG_DONTWAIT);
    if (seen < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      stream.socket().emptied();
      continue;
    }
    if (seen <= 0) co_return false;
    const std::size_t before = arrived.size();
    arrived.append(piece.data(), static_cast<std::size_t>(seen));
    const http::ProxyHeader header = http::parse_proxy_header(arrived);
    if (header.state == http::ProxyHeader::State::malformed) {
      warn_of_peer(" without a valid PROXY header", "invalid PROXY header");
      co_return false;
    }
    const bool is_complete = header.state == http::ProxyHeader::State::complete;
    const std::size_t taken = is_complete ? header.size - before : static_cast<std::size_t>(seen);
    if (::recv(descriptor, piece.data(), taken, MSG_DONTWAIT) != static_cast<ssize_t>(taken))
      co_return false;
    if (!is_complete) {
      if (taken < piece.size()) stream.socket().emptied();
      continue;
    }
    if (header.source) peer_ = *header.source;
    co_return true;
  }
}

void ConnectionOpening::warn_of_peer(std::string_view what, std::string_view about) {
  connection_.context.warn("closed a connection from " + peer_.to_string() + std::string(what),
                           about);
}

}  // namespace weir::proxy
