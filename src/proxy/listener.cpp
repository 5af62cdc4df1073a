#include "proxy/listener.hpp"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "proxy/http1_connection.hpp"
#include "proxy/ticks.hpp"

namespace weir::proxy {
namespace {

Problem problem_of(const Endpoint& endpoint, const std::string& what, int error) {
  std::string message =
      "can not listen on " + endpoint.to_string() + ": " + what + std::strerror(error);
  if (error == EADDRINUSE)
    message +=
        "; another process or listener has it: stop that one or choose another address under "
        "`listen`";
  if (error == EACCES) message += "; ports below 1024 need the capability CAP_NET_BIND_SERVICE";
  return {message};
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<Address> unix_address(const Endpoint& endpoint) {
  Address address;
  auto* const unix_part = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (endpoint.unix_path.size() >= sizeof unix_part->sun_path)
    return problem_of(endpoint, "", ENAMETOOLONG);
  unix_part->sun_family = AF_UNIX;
  std::memcpy(unix_part->sun_path, endpoint.unix_path.c_str(), endpoint.unix_path.size() + 1);
  address.size = sizeof(sockaddr_un);
  return address;
}

Result<Address> tcp_address(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(endpoint.host.empty() ? nullptr : endpoint.host.c_str(),
                                  std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0)
    return Problem{"can not listen on " + endpoint.to_string() + ": " + ::gai_strerror(error)};
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

int open_bound(Address& address, bool reuse_port) {
  const int descriptor =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // The same on every machine, whatever net.ipv6.bindv6only says: :: takes IPv4 as well.
  const int off = 0;
  if (address.storage.ss_family == AF_INET6)
    ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (reuse_port) ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::bind(descriptor, address.get(), address.size) == 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

void adopt_port(Endpoint& endpoint, Address& address, int descriptor) {
  ::getsockname(descriptor, address.get(), &address.size);
  const bool v6 = address.storage.ss_family == AF_INET6;
  endpoint.port = ntohs(v6 ? reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port
                           : reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port);
}

/// A socket file that nobody listens on any more is a left-over of a killed process.
void remove_stale(Address& address, const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(probe, address.get(), address.size) != 0 && errno == ECONNREFUSED)
    ::unlink(path.c_str());
  ::close(probe);
}

identity::IpAddress address_of(const asio::generic::stream_protocol::endpoint& peer) {
  const sockaddr* const address = peer.data();
  if (address->sa_family == AF_INET) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr,
                bytes.size());
    return identity::IpAddress::v4(bytes);
  }
  if (address->sa_family == AF_INET6) {
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr,
                bytes.size());
    return identity::IpAddress::v6(bytes);
  }
  return identity::IpAddress::v4({127, 0, 0, 1});  // a unix socket: this machine
}

}  // namespace

ListeningSocket::~ListeningSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::vector<ListeningSocket>> ListeningSocket::open(Endpoint& endpoint, std::size_t count,
                                                           bool overlaps_own) {
  auto resolved = endpoint.is_unix() ? unix_address(endpoint) : tcp_address(endpoint);
  if (!resolved) return resolved.error();
  Address address = *resolved;
  if (endpoint.is_unix()) remove_stale(address, endpoint.unix_path);

  // Without SO_REUSEPORT first: with it two processes of one user would silently share the address.
  const int probe = open_bound(address, overlaps_own && !endpoint.is_unix());
  if (probe < 0) return problem_of(endpoint, "", errno);
  if (!endpoint.is_unix()) {
    if (endpoint.port == 0) adopt_port(endpoint, address, probe);
    ::close(probe);
  }
  std::vector<ListeningSocket> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    const int descriptor = !endpoint.is_unix() ? open_bound(address, true)
                           : i == 0            ? probe
                                               : ::dup(probe);
    if (descriptor < 0) return problem_of(endpoint, "", errno);
    sockets.emplace_back(descriptor);
    if (::listen(descriptor, SOMAXCONN) != 0) return problem_of(endpoint, "", errno);
  }
  return sockets;
}

Listener::Listener(Context& context, ListeningSocket socket, ListenerOptions options)
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
  spawn(context_.io, accept_all());
}

Task<> Listener::accept_all() {
  error_code ec;
  asio::generic::stream_protocol::endpoint peer;
  while (acceptor_.is_open()) {
    Socket socket(context_.io.get_executor());
    co_await acceptor_.async_accept(socket, peer, into(ec));
    if (!ec) {
      welcome(std::move(socket), peer);
    } else if (ec == asio::error::operation_aborted) {
      break;
    } else if (ec != asio::error::connection_aborted) {
      // Out of descriptors or memory: trying again at once would only spin. Who connects meanwhile
      // waits in the kernel's queue.
      context_.give_up_idle();
      context_.warn("connections can not be accepted for the moment: " + ec.message());
      Timer pause(context_.io.get_executor(), tick_interval);
      co_await pause.async_wait(into(ec));
    }
  }
  is_accepting_ = false;
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

void Listener::welcome(Socket socket, const asio::generic::stream_protocol::endpoint& peer) {
  error_code ec;
  socket.non_blocking(true, ec);
  if (peer.data()->sa_family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  try {
    const bool accepted = has_room();
    (accepted ? context_.counters.accepted : context_.counters.refused).add();
    // Beyond a margin not even the refusal is worth a descriptor, nor is a handshake ever: the
    // connection is closed at once.
    const bool is_told =
        !options_.tls && context_.open_refusals.load(std::memory_order_relaxed) < refusals_at_once;
    if (accepted) {
      Http1Connection::start(context_, connections_, std::move(socket), address_of(peer), options_);
    } else if (is_told) {
      Http1Connection::turn_away(context_, connections_, std::move(socket), address_of(peer));
    }
  } catch (const std::exception& thrown) {
    context_.warn_of(thrown, "a connection could not be taken");
  }
}

void Listener::stop() {
  error_code ec;
  asio::generic::stream_protocol::endpoint peer;
  for (;;) {
    Socket socket(context_.io.get_executor());
    acceptor_.accept(socket, peer, ec);
    if (ec) break;
    welcome(std::move(socket), peer);
  }
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
