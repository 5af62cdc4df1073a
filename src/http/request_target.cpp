#include "http/request_target.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "http/characters.hpp"

namespace weir::http {
namespace {

enum class TargetByte : unsigned char { usual, raw, never };

/// Never: spaces, control characters and the start of a fragment. Printable characters that RFC
/// 3986 requires to be percent-encoded but clients send as they are ('|', '"') are accepted: no
/// service reads them as another character.
constexpr auto target_bytes = [] {
  std::array<TargetByte, 256> kinds{};
  for (std::size_t byte = 0; byte < kinds.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    if (byte >= 0x80 || c == '\\') kinds[byte] = TargetByte::raw;
    if (is_control(c) || is_white_space(c) || c == '#') kinds[byte] = TargetByte::never;
  }
  return kinds;
}();

/// The worst kind of byte in the target.
TargetByte worst_byte(std::string_view target) {
  TargetByte worst = TargetByte::usual;
  for (const char c : target)
    worst = std::max(worst, target_bytes[static_cast<unsigned char>(c)]);
  return worst;
}

void split(RequestView& request, std::string_view target) {
  const auto question = target.find('?');
  request.target = target;
  request.path = target.substr(0, question);
  request.query =
      question == std::string_view::npos ? std::string_view{} : target.substr(question + 1);
}

constexpr Refusal no_form{400, "the target is neither a path nor an http or https URI"};
constexpr Refusal only_for_options{400, "the target \"*\" is for OPTIONS only"};

/// Returns the parts of "scheme://authority/path?query".
std::optional<TargetUri> absolute_form(std::string_view target) {
  constexpr std::string_view mark = "://";
  const auto scheme_end = target.find(mark);
  if (scheme_end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = target.substr(scheme_end + mark.size());
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  return TargetUri{.scheme = target.substr(0, scheme_end),
                   .authority = rest.substr(0, end),
                   .path = rest.substr(end)};
}

/// Empty for a scheme that is not served.
std::string_view default_port_of(std::string_view scheme) {
  if (iequals(scheme, "https")) return "443";
  return iequals(scheme, "http") ? "80" : "";
}

bool are_same(const Authority& a, const Authority& b, std::string_view default_port) {
  const auto port = [default_port](const Authority& authority) {
    return authority.port.empty() ? default_port : authority.port;
  };
  return iequals(a.host, b.host) && port(a) == port(b);
}

/// True for what may follow an authority, and for the asterisk.
bool is_path(std::string_view text) {
  return text.empty() || text.front() == '/' || text.front() == '?' || text == "*";
}

/// RFC 9112 section 3.2.4: OPTIONS for a URI without path and query is about the server as a whole.
std::string_view origin_form(std::string_view method, std::string_view path, std::string& storage) {
  if (path.empty()) return method == "OPTIONS" ? "*" : "/";
  if (path.front() == '/' || path == "*") return path;
  storage.assign(1, '/').append(path);
  return storage;
}

}  // namespace

std::optional<Refusal> check_target(std::string_view method, std::string_view target,
                                    RawBytes raw) {
  if (method == "CONNECT" || method == "TRACE") {
    return Refusal{405, "CONNECT and TRACE are not served here"};
  }
  const TargetByte worst = worst_byte(target);
  if (target.empty() || worst == TargetByte::never) {
    return Refusal{400, "the target is empty or has a space, a control character or a fragment"};
  }
  if (worst == TargetByte::raw && raw == RawBytes::refuse) {
    return Refusal{400,
                   "the target has a backslash or a byte that is not ASCII; percent-encode it"};
  }
  return std::nullopt;
}

std::optional<Refusal> set_uri(RequestView& request, const TargetUri& uri, const Authority& host,
                               std::string& storage) {
  const std::string_view default_port = default_port_of(uri.scheme);
  if (default_port.empty() || !is_path(uri.path)) return no_form;
  const auto authority = parse_authority(uri.authority);
  if (!authority) return Refusal{400, "the target's authority is not a host with an optional port"};
  if (!host.host.empty() && !are_same(*authority, host, default_port)) {
    return Refusal{400, "the target's authority differs from the Host field"};
  }
  if (uri.path == "*" && request.method != "OPTIONS") return only_for_options;
  request.host = authority->host;
  request.authority = uri.authority;
  split(request, origin_form(request.method, uri.path, storage));
  return std::nullopt;
}

std::optional<Refusal> set_target(RequestView& request, std::string_view received,
                                  std::string& storage, RawBytes raw) {
  if (const auto refusal = check_target(request.method, received, raw)) return refusal;
  const auto host = host_field(request.fields);
  if (!host) return host.error();
  if (host->host.empty() && request.version_minor != 0) return Refusal{400, "no Host field"};
  if (received.front() != '/' && received != "*") {
    const auto uri = absolute_form(received);
    return uri ? set_uri(request, *uri, *host, storage) : no_form;
  }
  if (received == "*" && request.method != "OPTIONS") return only_for_options;
  request.host = host->host;
  if (const FieldView* const field = request.find(FieldId::host)) request.authority = field->value;
  split(request, received);
  return std::nullopt;
}

}  // namespace weir::http
