#include <algorithm>
#include <vector>

#include "cli/explanation.hpp"
#include "http/authority.hpp"
#include "routing/original_request.hpp"

namespace weir::cli {
namespace {

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
