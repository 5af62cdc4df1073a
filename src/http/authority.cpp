#include "http/authority.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "http/characters.hpp"

namespace weir::http {
namespace {

constexpr auto name_characters = alphanumeric_or("-._");

/// True for a name of DNS characters, IPv4 addresses included. RFC 3986 section 3.2.2 also allows
/// sub-delims, "~" and pct-encoded, but no DNS host has them, and services split a host at "," and
/// ";" or decode "%": they would read another host than the one that selects the route. No label is
/// empty except that of the root, written as one dot at the end (RFC 1034 section 3.1).
bool is_name(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.find("..") != std::string_view::npos)
    return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return name_characters[static_cast<unsigned char>(c)]; });
}

/// True for the text inside the brackets. IPvFuture, which is not in use, and zones are refused.
bool is_ipv6(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN + 1> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return false;
  std::copy(text.begin(), text.end(), terminated.begin());
  in6_addr address{};
  return inet_pton(AF_INET6, terminated.data(), &address) == 1;
}

bool is_port(std::string_view text) {
  return text.empty() || parse_number<std::uint16_t>(text);
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t host_end =
      bracketed ? text.find(']') + 1 : std::min(text.find(':'), text.size());
  if (bracketed && host_end == 0) return std::nullopt;
  const std::string_view host = text.substr(0, host_end);
  const std::string_view rest = text.substr(host_end);
  if (!rest.empty() && rest.front() != ':') return std::nullopt;
  const std::string_view port = rest.empty() ? rest : rest.substr(1);
  if (!is_port(port)) return std::nullopt;
  if (bracketed ? !is_ipv6(host.substr(1, host.size() - 2)) : !is_name(host)) return std::nullopt;
  return Authority{.host = host, .port = port};
}

Result<Authority, Refusal> host_field(std::span<const FieldView> fields) {
  const FieldView* host = nullptr;
  for (const FieldView& field : fields) {
    if (field.id != FieldId::host) continue;
    if (host != nullptr) return Refusal{400, "more than one Host field"};
    host = &field;
  }
  if (host == nullptr) return Authority{};
  if (host->value.empty()) return Refusal{400, "the Host field is empty"};
  if (const auto authority = parse_authority(host->value)) return *authority;
  return Refusal{400, "the Host field is not a host with an optional port"};
}

std::string authority_of(std::string_view host, std::uint16_t port, bool is_secure) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  std::string text(host);
  if (is_v6) text.insert(0, 1, '[').push_back(']');
  if (port != (is_secure ? 443 : 80)) text.append(":").append(std::to_string(port));
  return text;
}

}  // namespace weir::http
