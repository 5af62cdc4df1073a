#include "proxy/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "loop/ticks.hpp"
#include "proxy/downstream_connection.hpp"

namespace weir::proxy {
namespace {

/// Connections accepted in one pass of the loop, so that other events are not delayed longer.
constexpr std::size_t accepts_at_once = 16;

IpAddress address_of(const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, bytes.size());
    return IpAddress::v4(bytes);
  }
  if (peer.ss_family == AF_INET6) {
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, bytes.size());
    return IpAddress::v6(bytes);
  }
  return IpAddress::v4({127, 0, 0, 1});  // a unix socket: the local host
}

/// True for errors of one connection that accept(2) passes on; others can be accepted.
bool is_of_the_connection(const error_code& ec) {
  switch (ec.value()) {
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

Listener::Listener(Context& context, loop::Descriptor socket, ListenerOptions options)
    : context_(context), socket_(context.io, std::move(socket)), options_(std::move(options)) {
  connections_.serves = options_.serves;
}

void Listener::start() {
  if (std::exchange(is_accepting_, true)) return;
  try {
    loop::spawn(context_.io, accept_all());
  } catch (...) {
    is_accepting_ = false;
    throw;
  }
}

loop::Task<> Listener::accept_all() {
  error_code ec;
  while (socket_.is_open()) {
    co_await socket_.wait(loop::Direction::read, ec);
    if (ec == asio::error::operation_aborted) break;
    if (!ec) accept_waiting(accepts_at_once, ec);
    if (!ec) {
      co_await context_.turns.next();
    } else if (ec != asio::error::would_block) {
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

/// Accepts connections from the kernel's queue. The error is would_block if there are no more.
void Listener::accept_waiting(std::size_t most, error_code& ec) {
  ec = {};
  for (std::size_t i = 0; i < most; ++i) {
    sockaddr_storage peer{};
    loop::Descriptor accepted = socket_.accept(peer, ec);
    if (is_of_the_connection(ec)) {
      ec = {};
      continue;
    }
    if (ec) return;
    welcome(std::move(accepted), address_of(peer));
  }
}

bool Listener::has_room() {
  const std::size_t open = context_.open_connections.load(std::memory_order_relaxed);
  const std::size_t configured = context_.generation->options.downstream.max_connections;
  const std::size_t possible = context_.descriptors.most_downstream();
  const std::size_t most = configured == 0 ? possible : std::min(configured, possible);
  if (open >= most) {
    context_.warn(
        "connections are refused: as many are open as downstream.max_connections allows, " +
        std::to_string(most));
    return false;
  }
  if (!context_.descriptors.is_spent()) return true;
  context_.give_up_idle();
  if (!context_.descriptors.is_spent()) return true;
  context_.warn("connections are refused: the limit on open files allows no more of them");
  return false;
}

void Listener::welcome(loop::Descriptor socket, const IpAddress& peer) {
  try {
    AddressConnections::Slot slot;
    if (!options_.proxy_protocol && !admit_from(context_, peer, slot))
      return loop::reset_when_closed(socket);
    const bool accepted = has_room();
    (accepted ? context_.counters.accepted : context_.counters.refused).add();
    // Beyond a margin the connection is closed without an answer, because the answer needs the
    // descriptor too. The same applies to TLS, because the answer needs a handshake.
    const bool is_answered =
        !options_.tls && context_.open_refusals.load(std::memory_order_relaxed) < refusals_at_once;
    if (accepted) {
      DownstreamConnection::start(context_, connections_, std::move(socket), peer, options_,
                                  std::move(slot));
    } else if (is_answered) {
      DownstreamConnection::turn_away(context_, connections_, std::move(socket), peer);
    }
  } catch (const std::exception& thrown) {
    context_.warn_of(thrown, "a connection could not be taken");
  }
}

void Listener::stop() {
  error_code ec;
  accept_waiting(std::numeric_limits<std::size_t>::max(), ec);
  socket_.close();
}

void Listener::remove() {
  stop();
  connections_.draining = true;
  for (DownstreamConnection* connection : context_.connections) {
    if (connection->is_of(connections_)) connection->drain();
  }
}

}  // namespace weir::proxy
