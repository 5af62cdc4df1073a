#include "loop/listening_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ip_address.hpp"
#include "base/path_advice.hpp"

namespace weir::loop {
namespace {

/// True if something other than a socket has the path.
bool is_other_file(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode);
}

std::string advice_on(const Endpoint& endpoint, int error) {
  if (error == EADDRINUSE && endpoint.is_unix() && is_other_file(endpoint.unix_path))
    return "; the file is not a socket: remove it or choose another path";
  if (error == EADDRINUSE)
    return "; another process or listener has it: stop that one or choose another address";
  if (endpoint.is_unix()) return path_advice(endpoint.unix_path, error, ::geteuid());
  if (error == EACCES) return "; ports below 1024 need the capability CAP_NET_BIND_SERVICE";
  if (error == EADDRNOTAVAIL)
    return "; no network interface of this machine has it: use 0.0.0.0 for all of them";
  return {};
}

Problem problem_of(const Endpoint& endpoint, int error) {
  return {"cannot listen on " + endpoint.to_string() + ": " + std::strerror(error) +
          advice_on(endpoint, error)};
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
    return problem_of(endpoint, ENAMETOOLONG);
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
    return Problem{"cannot listen on " + endpoint.to_string() + ": " + ::gai_strerror(error) +
                   "; write an IP address of this machine, or 0.0.0.0 for all of them"};
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
  // Independent of net.ipv6.bindv6only: :: accepts IPv4 as well.
  const int off = 0;
  if (address.storage.ss_family == AF_INET6)
    ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (reuse_port) ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  // Linux copies the option to accepted sockets.
  if (address.storage.ss_family != AF_UNIX)
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::bind(descriptor, address.get(), address.size) == 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

Endpoint local_endpoint(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return {.host = IpAddress::v6(bytes).to_string(), .port = ntohs(v6.sin6_port), .unix_path = {}};
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  std::array<std::uint8_t, 4> bytes{};
  std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
  return {.host = IpAddress::v4(bytes).to_string(), .port = ntohs(v4.sin_port), .unix_path = {}};
}

/// Finds out whether a server answers at the socket of this path.
bool is_answered(Address& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_refused =
      ::connect(probe, address.get(), address.size) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return !is_refused;
}

/// Removes a socket file without a listener, which a killed process has left.
void remove_stale(Address& address, const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  if (!is_answered(address)) ::unlink(path.c_str());
}

Result<BoundAddress> listen_on_unix(const Endpoint& endpoint, std::size_t count) {
  auto address = unix_address(endpoint);
  if (!address) return address.error();
  remove_stale(*address, endpoint.unix_path);
  const int first = open_bound(*address, false);
  if (first < 0) return problem_of(endpoint, errno);
  BoundAddress bound{
      .endpoint = endpoint, .local = endpoint, .file = SocketFile(endpoint.unix_path)};
  bound.sockets.emplace_back(first);
  if (::listen(first, SOMAXCONN) != 0) return problem_of(endpoint, errno);
  while (bound.sockets.size() < count) {
    const int copy = ::fcntl(first, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return problem_of(endpoint, errno);
    bound.sockets.emplace_back(copy);
  }
  return {boost::system::in_place_value, std::move(bound)};
}

Result<BoundAddress> listen_on_tcp(const Endpoint& endpoint, std::size_t count,
                                   const IsLeaving& is_leaving) {
  auto address = tcp_address(endpoint);
  if (!address) return address.error();
  // First without SO_REUSEPORT: with it two processes of one user would silently share the address.
  const bool shares_port = is_leaving && is_leaving(local_endpoint(*address));
  const int probe = open_bound(*address, shares_port);
  if (probe < 0) return problem_of(endpoint, errno);
  ::getsockname(probe, address->get(), &address->size);
  ::close(probe);
  BoundAddress bound{.endpoint = endpoint, .local = local_endpoint(*address)};
  bound.endpoint.port = bound.local.port;
  bound.is_listening = false;
  for (std::size_t i = 0; i < count; ++i) {
    const int descriptor = open_bound(*address, true);
    if (descriptor < 0) return problem_of(endpoint, errno);
    bound.sockets.emplace_back(descriptor);
  }
  // If the configuration is rejected later, the new sockets must not have accepted connections
  // meanwhile.
  if (!shares_port) {
    if (auto started = start_listening(bound); !started) return started.error();
  }
  return {boost::system::in_place_value, std::move(bound)};
}

/// The errno that creating the socket file would have; 0: it can be created.
int fault_of_path(Address& address, const std::string& path) {
  if (is_other_file(path)) return EADDRINUSE;
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && is_answered(address)) return EADDRINUSE;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

ListenTrial try_unix(const Endpoint& endpoint) {
  auto address = unix_address(endpoint);
  if (!address) return {.problem = address.error()};
  const int fault = fault_of_path(*address, endpoint.unix_path);
  if (fault == 0) return {.local = endpoint};
  const bool is_taken = fault == EADDRINUSE && !is_other_file(endpoint.unix_path);
  return {.local = endpoint, .problem = problem_of(endpoint, fault), .is_taken = is_taken};
}

ListenTrial try_tcp(const Endpoint& endpoint) {
  auto address = tcp_address(endpoint);
  if (!address) return {.problem = address.error()};
  const Endpoint local = local_endpoint(*address);
  const Descriptor bound(open_bound(*address, false));
  const int fault = errno;
  if (bound.is_open()) return {.local = local};
  return {.local = local, .problem = problem_of(endpoint, fault), .is_taken = fault == EADDRINUSE};
}

}  // namespace

ListenTrial try_listening(const Endpoint& endpoint, const IsClaimed& is_claimed) {
  ListenTrial trial = endpoint.is_unix() ? try_unix(endpoint) : try_tcp(endpoint);
  const bool is_known = !trial.problem || trial.is_taken;
  if (is_known && is_claimed(trial.local))
    trial = {.local = trial.local, .problem = problem_of(endpoint, EADDRINUSE)};
  return trial;
}

Result<BoundAddress> listen_on(const Endpoint& endpoint, std::size_t count,
                               const IsLeaving& is_leaving) {
  return endpoint.is_unix() ? listen_on_unix(endpoint, count)
                            : listen_on_tcp(endpoint, count, is_leaving);
}

Result<void> start_listening(BoundAddress& bound) {
  if (std::exchange(bound.is_listening, true)) return {};
  for (const Descriptor& socket : bound.sockets) {
    if (::listen(socket.native(), SOMAXCONN) != 0) return problem_of(bound.endpoint, errno);
  }
  return {};
}

}  // namespace weir::loop
