#include "config/host.hpp"

#include <algorithm>
#include <charconv>

#include "base/ip_address.hpp"
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
  std::uint16_t port = 0;
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), http::is_digit);
  if (!digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
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

}  // namespace weir::config
