#include "http/request_target.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "http/authority.hpp"
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

/// The parts of "http://authority/path?query"; `after` is the text after the authority.
struct AbsoluteForm {
  std::string_view default_port;
  std::string_view authority;
  std::string_view after;
};

std::optional<AbsoluteForm> absolute_form(std::string_view target) {
  constexpr std::string_view http = "http://";
  constexpr std::string_view https = "https://";
  const bool secure = iequals(target.substr(0, https.size()), https);
  if (!secure && !iequals(target.substr(0, http.size()), http)) return std::nullopt;
  target.remove_prefix(secure ? https.size() : http.size());
  const auto end = std::min(target.find_first_of("/?"), target.size());
  return AbsoluteForm{.default_port = secure ? "443" : "80",
                      .authority = target.substr(0, end),
                      .after = target.substr(end)};
}

bool are_same(const Authority& a, const Authority& b, std::string_view default_port) {
  const auto port = [default_port](const Authority& authority) {
    return authority.port.empty() ? default_port : authority.port;
  };
  return iequals(a.host, b.host) && port(a) == port(b);
}

/// RFC 9112 section 3.2.4: OPTIONS for a URI without path and query is about the server as a whole.
std::string_view origin_form(std::string_view method, std::string_view after_authority,
                             std::string& storage) {
  if (after_authority.empty()) return method == "OPTIONS" ? "*" : "/";
  if (after_authority.front() == '/') return after_authority;
  storage.assign(1, '/').append(after_authority);
  return storage;
}

std::optional<Refusal> set_absolute(RequestView& request, std::string_view received,
                                    const Authority& host, std::string& storage) {
  const auto form = absolute_form(received);
  if (!form) return Refusal{400, "the target is neither a path nor an http or https URI"};
  const auto authority = parse_authority(form->authority);
  if (!authority) return Refusal{400, "the target's authority is not a host with an optional port"};
  if (!host.host.empty() && !are_same(*authority, host, form->default_port)) {
    return Refusal{400, "the target's authority differs from the Host field"};
  }
  request.host = authority->host;
  request.authority = form->authority;
  split(request, origin_form(request.method, form->after, storage));
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> set_target(RequestView& request, std::string_view received,
                                  std::string& storage, RawBytes raw) {
  if (request.method == "CONNECT" || request.method == "TRACE") {
    return Refusal{405, "CONNECT and TRACE are not served here"};
  }
  const TargetByte worst = worst_byte(received);
  if (received.empty() || worst == TargetByte::never) {
    return Refusal{400, "the target is empty or has a space, a control character or a fragment"};
  }
  if (worst == TargetByte::raw && raw == RawBytes::refuse) {
    return Refusal{400,
                   "the target has a backslash or a byte that is not ASCII; percent-encode it"};
  }
  const auto host = host_field(request);
  if (!host) return host.error();
  if (received.front() != '/' && received != "*")
    return set_absolute(request, received, *host, storage);
  if (received == "*" && request.method != "OPTIONS")
    return Refusal{400, "the target \"*\" is for OPTIONS only"};
  request.host = host->host;
  if (const FieldView* const field = request.find(FieldId::host)) request.authority = field->value;
  split(request, received);
  return std::nullopt;
}

}  // namespace weir::http
