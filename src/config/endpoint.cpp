#include "config/endpoint.hpp"

#include "base/ip_address.hpp"
#include "config/host.hpp"

namespace weir::config {

namespace {

/// The size of sockaddr_un::sun_path without the terminating zero.
constexpr std::size_t longest_unix_path = 107;

/// A listener on :: accepts IPv4 as well.
bool includes(const IpAddress& one, const IpAddress& other) {
  return one == other || one == IpAddress{} || (one == IpAddress::v4({}) && other.is_v4());
}

}  // namespace

bool overlap(const Endpoint& one, const Endpoint& other) {
  if (one.is_unix() || other.is_unix()) return one.unix_path == other.unix_path;
  if (one.port != other.port || one.port == 0) return false;
  const auto address = IpAddress::parse(one.host);
  const auto other_address = IpAddress::parse(other.host);
  if (!address || !other_address) return one.host == other.host;
  return includes(*address, *other_address) || includes(*other_address, *address);
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.starts_with(unix_prefix)) {
    const std::string_view path = text.substr(unix_prefix.size());
    const bool usable = path.starts_with('/') && path.size() > 1 &&
                        path.size() <= longest_unix_path &&
                        path.find('\0') == std::string_view::npos;
    if (!usable) return std::nullopt;
    return Endpoint{.host = {}, .port = 0, .unix_path = std::string(path)};
  }
  const std::optional<HostAndPort> parts = split_host_and_port(text);
  if (!parts || !parts->port) return std::nullopt;
  return Endpoint{.host = std::string(parts->host), .port = *parts->port, .unix_path = {}};
}

}  // namespace weir::config
