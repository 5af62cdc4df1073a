#include "decision/header_list_inspection.hpp"

#include <algorithm>

#include "http/authority.hpp"
#include "http/characters.hpp"
#include "http/head_parser.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_target.hpp"

namespace weir::decision {
namespace {

constexpr http::Refusal list_malformed{400, "the request head is not valid HTTP/2"};
constexpr http::Refusal no_authority{400, "neither :authority nor Host"};
constexpr http::Refusal unknown_protocol{501, "the only :protocol that is supported is websocket"};
constexpr http::Refusal for_connection{400, "HTTP/2 has no fields about the connection"};

/// True for a field that a request of HTTP/2 must not have (RFC 9113 section 8.2.2).
bool is_about_connection(const http::FieldView& field) {
  if (field.id == http::FieldId::te) return !http::iequals(field.value, "trailers");
  return http::is_hop_by_hop(field, {});
}

/// Makes the authority the value of Host, and Host the first field.
void set_host(std::vector<http::FieldView>& fields, std::string_view authority) {
  std::erase_if(fields, [](const auto& field) { return field.id == http::FieldId::host; });
  fields.insert(fields.begin(), {.id = http::FieldId::host, .name = "host", .value = authority});
}

/// Sets the parts of the target in the view, unless they are refused.
std::optional<http::Refusal> read_uri(const options::Downstream& downstream,
                                      const http::HeaderList& head,
                                      http::ReceivedRequest& request) {
  const std::string_view path = head.path();
  if (is_too_long(downstream, path)) return http::target_too_long;
  if (const auto refusal = http::check_target(request.view.method, path, raw_bytes(downstream)))
    return refusal;
  if (path.front() != '/' && path != "*") return list_malformed;
  const auto host = http::host_field(request.fields);
  if (!host) return host.error();
  std::string_view authority = head.authority();
  if (authority.empty() && !host->host.empty())
    authority = std::ranges::find(request.fields, http::FieldId::host, &http::FieldView::id)->value;
  if (authority.empty()) return no_authority;
  const auto refusal =
      http::set_uri(request.view, {.scheme = head.scheme(), .authority = authority, .path = path},
                    *host, request.target_storage);
  if (!refusal) set_host(request.fields, authority);
  return refusal;
}

/// Without a Content-Length the body ends with its stream; HTTP/1 sends such a body in chunks.
Result<http::Framing, http::Refusal> framing_of(const http::RequestView& view, bool has_body) {
  auto framing = http::request_framing(view);
  if (framing && framing->kind == http::Framing::Kind::none && has_body)
    framing->kind = http::Framing::Kind::chunked;
  return framing;
}

}  // namespace

std::optional<http::Refusal> inspect_header_list(const RequestRules& rules, http::HeaderList& head,
                                                 bool has_body, http::ReceivedRequest& request) {
  head.finish(request.fields);
  auto& view = request.view;
  // RFC 8441 section 4: the handshake of a WebSocket, which is a GET in HTTP/1.
  const bool opens_tunnel = head.method() == "CONNECT" && !head.protocol().empty();
  view.method = opens_tunnel ? "GET" : head.method();
  view.version_major = 2;
  view.fields = request.fields;
  if (head.is_too_large()) return http::head_too_large;
  if (!http::is_token(view.method)) return list_malformed;
  if (opens_tunnel && head.protocol() != "websocket") return unknown_protocol;
  ParsedHead parsed{.target_fault = read_uri(rules.options.downstream, head, request),
                    .framing = http::Framing{},
                    .keep_alive = true};
  view.fields = request.fields;
  parsed.framing = framing_of(view, has_body && !opens_tunnel);
  if (std::ranges::any_of(request.fields, is_about_connection))
    parsed.connection_fault = for_connection;
  // TE needs no Connection in HTTP/2; the next hop of HTTP/1 does.
  if (view.find(http::FieldId::te) != nullptr)
    request.connection.names[request.connection.name_count++] = "te";
  const auto refusal = check_head(rules, parsed, request);
  if (refusal || !opens_tunnel) return refusal;
  if (request.has_body()) return list_malformed;
  request.upgrade = head.protocol();
  return std::nullopt;
}

}  // namespace weir::decision
