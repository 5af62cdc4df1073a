#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/explanation.hpp"
#include "config/request_head.hpp"
#include "http/authority.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"
#include "routing/original_request.hpp"

namespace weir::cli {
namespace {

/// `NAME: VALUE` as a name and a value.
Result<std::pair<std::string, std::string>> field_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, std::min(colon, text.size()));
  if (colon == std::string_view::npos || !http::is_token(name))
    return Problem{"-H: expected 'NAME: VALUE', such as 'X-Api-Key: abc'"};
  const std::string_view value = http::trimmed(text.substr(colon + 1));
  if (const std::string fault = config::fault_of_field(name, value); !fault.empty())
    return Problem{"-H: " + fault};
  return std::pair(std::string(name), std::string(value));
}

constexpr std::size_t most_shown = 60;  // of a part of a head that was not parsed

std::string cut(std::string_view text) {
  if (text.size() <= most_shown) return std::string(text);
  return std::string(text.substr(0, most_shown)) + "...";
}

std::string_view next_line(std::string_view& head) {
  const std::size_t end = std::min(head.find("\r\n"), head.size());
  const std::string_view line = head.substr(0, end);
  head.remove_prefix(std::min(end + 2, head.size()));
  return line;
}

/// The host of the first Host field; empty if there is none, or if it is not a host.
std::string_view host_of(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::size_t colon = std::min(line.find(": "), line.size());
    if (!http::iequals(line.substr(0, colon), "host")) continue;
    const auto authority = http::parse_authority(line.substr(std::min(colon + 2, line.size())));
    return authority ? authority->host : std::string_view();
  }
  return {};
}

std::string why_original(const http::RequestView& asked, bool peer_is_trusted) {
  if (!peer_is_trusted)
    return "the request itself: the peer is not in client_address.trusted_proxies";
  const std::vector<std::string_view> names = routing::original_request_fields(asked);
  if (names.empty()) return "the request itself: it has no X-Original-URI or X-Forwarded-Uri";
  std::string text = "described by";
  std::string_view separator = " ";
  for (const std::string_view name : names) {
    text.append(separator).append(name);
    separator = ", ";
  }
  return text;
}

}  // namespace

Result<std::string> request_head(const RequestArguments& arguments) {
  const auto url = config::parse_request_url(arguments.url);
  if (!url) return Problem{"URL: " + url.error().message};
  if (!http::is_token(arguments.method)) return Problem{"--method: expected a method, such as GET"};
  std::vector<std::pair<std::string, std::string>> fields;
  for (const std::string& text : arguments.fields) {
    auto field = field_of(text);
    if (!field) return field.error();
    fields.push_back(*std::move(field));
  }
  return {boost::system::in_place_value, config::request_head(arguments.method, *url, fields)};
}

ExplainedRequest shown_request(const http::RequestView& request) {
  return {.method = std::string(request.method),
          .path = std::string(request.path),
          .host = std::string(request.host)};
}

ExplainedRequest shown_head(std::string_view head) {
  const std::string_view line = next_line(head);
  const std::size_t method_end = std::min(line.find(' '), line.size());
  const std::string_view rest = line.substr(std::min(method_end + 1, line.size()));
  return {.method = cut(line.substr(0, method_end)),
          .path = cut(rest.substr(0, rest.find_first_of(" ?"))),
          .host = cut(host_of(head))};
}

ExplainedOriginal shown_original(const http::RequestView& asked, const http::RequestView& original,
                                 bool peer_is_trusted) {
  return {.request = shown_request(original), .because = why_original(asked, peer_is_trusted)};
}

}  // namespace weir::cli
