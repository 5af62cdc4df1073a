#include "config/endpoint.hpp"

#include <algorithm>

#include "base/ip_address.hpp"
#include "base/text.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_host = 253;

bool is_label(std::string_view label) {
  const auto allowed = [](char c) {
    return http::is_alpha(c) || http::is_digit(c) || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), allowed);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  return parse_number<std::uint16_t>(text);
}

}  // namespace

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > longest_host) return false;
  std::string_view rest = text;
  std::string_view label;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    if (!is_label(label)) return false;
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  }
  // A name that ends in a number is an IPv4 address or invalid (WHATWG URL, "ends in a number").
  const bool numeric = std::all_of(label.begin(), label.end(), http::is_digit);
  return !numeric || IpAddress::parse(text).has_value();
}

std::string_view without_root_dot(std::string_view name) {
  return name.substr(0, name.size() - (name.ends_with('.') ? 1 : 0));
}

std::optional<HostAndPort> split_host_and_port(std::string_view text) {
  HostAndPort parts;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    parts.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    const bool is_v6 = parts.host.find(':') != std::string_view::npos;
    if (!is_v6 || !IpAddress::parse(parts.host)) return std::nullopt;
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    parts.host = text.substr(0, colon);
    rest = text.substr(colon);
    if (!is_host_name(parts.host)) return std::nullopt;
  }
  if (rest.empty()) return parts;
  if (rest.front() != ':') return std::nullopt;
  parts.port = parse_port(rest.substr(1));
  if (!parts.port) return std::nullopt;
  return parts;
}

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
