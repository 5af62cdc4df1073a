#include "proxy/listener.hpp"

#include <cstring>
#include <limits>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

#include "loop/ticks.hpp"
#include "proxy/http1_connection.hpp"

namespace weir::proxy {
namespace {

/// Connections accepted in one pass of the loop, so that other events are not delayed longer.
constexpr std::size_t accepts_at_once = 16;

IpAddress address_of(const asio::generic::stream_protocol::endpoint& peer) {
  const sockaddr* const address = peer.data();
  if (address->sa_family == AF_INET) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr,
                bytes.size());
    return IpAddress::v4(bytes);
  }
  if (address->sa_family == AF_INET6) {
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr,
                bytes.size());
    return IpAddress::v6(bytes);
  }
  return IpAddress::v4({127, 0, 0, 1});  // a unix socket: the local host
}

}  // namespace

Listener::Listener(Context& context, loop::ListeningSocket socket, ListenerOptions options)
    : context_(context), acceptor_(context.io.get_executor()), options_(std::move(options)) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  ::getsockname(socket.native(), reinterpret_cast<sockaddr*>(&local), &size);
  acceptor_.assign({local.ss_family, local.ss_family == AF_UNIX ? 0 : IPPROTO_TCP},
                   socket.release());
  acceptor_.non_blocking(true);
}

void Listener::start() {
  is_accepting_ = true;
  loop::spawn(context_.io, accept_all());
}

loop::Task<> Listener::accept_all() {
  error_code ec;
  asio::generic::stream_protocol::endpoint peer;
  while (acceptor_.is_open()) {
    loop::Socket socket(context_.io.get_executor());
    co_await acceptor_.async_accept(socket, peer, loop::into(ec));
    if (!ec) {
      welcome(std::move(socket), peer);
      accept_waiting(accepts_at_once - 1);
    } else if (ec == asio::error::operation_aborted) {
      break;
    } else if (ec != asio::error::connection_aborted) {
      // Out of descriptors or memory. An immediate retry would spin; new connections wait in the
      // kernel's queue.
      context_.give_up_idle();
      context_.warn("connections cannot be accepted for the moment: " + ec.message());
      loop::Timer pause(context_.io.get_executor(), loop::tick_interval);
      co_await pause.async_wait(loop::into(ec));
    }
  }
  is_accepting_ = false;
}

/// Accepts connections from the kernel's queue. Connections of one pass share system calls (Turns).
void Listener::accept_waiting(std::size_t most) {
  error_code ec;
  asio::generic::stream_protocol::endpoint peer;
  for (std::size_t i = 0; i < most; ++i) {
    loop::Socket socket(context_.io.get_executor());
    acceptor_.accept(socket, peer, ec);
    if (ec) return;
    welcome(std::move(socket), peer);
  }
}

bool Listener::has_room() {
  const std::size_t open = context_.open_connections.load(std::memory_order_relaxed);
  if (open >= context_.generation->config.downstream.max_connections) return false;
  if (!context_.descriptors.is_spent()) return true;
  context_.give_up_idle();
  if (!context_.descriptors.is_spent()) return true;
  context_.warn("connections are refused: the limit on open files allows no more of them");
  return false;
}

void Listener::welcome(loop::Socket socket, const asio::generic::stream_protocol::endpoint& peer) {
  error_code ec;
  socket.non_blocking(true, ec);
  try {
    const bool accepted = has_room();
    (accepted ? context_.counters.accepted : context_.counters.refused).add();
    // Beyond a margin the connection is closed without an answer, because the answer needs the
    // descriptor too. The same applies to TLS, because the answer needs a handshake.
    const bool is_answered =
        !options_.tls && context_.open_refusals.load(std::memory_order_relaxed) < refusals_at_once;
    if (accepted) {
      Http1Connection::start(context_, connections_, std::move(socket), address_of(peer), options_);
    } else if (is_answered) {
      Http1Connection::turn_away(context_, connections_, std::move(socket), address_of(peer));
    }
  } catch (const std::exception& thrown) {
    context_.warn_of(thrown, "a connection could not be taken");
  }
}

void Listener::stop() {
  accept_waiting(std::numeric_limits<std::size_t>::max());
  error_code ec;
  acceptor_.close(ec);
}

void Listener::remove() {
  stop();
  connections_.draining = true;
  for (Http1Connection* connection : context_.connections) {
    if (connection->is_of(connections_)) connection->drain();
  }
}

}  // namespace weir::proxy
