#include "decision/head_inspection.hpp"

#include "http/head_parser.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_target.hpp"
#include "http/upgrade.hpp"

namespace weir::decision {
namespace {

/// Stores the offered protocols (RFC 9110 section 7.8). The offer of a request with a body is
/// ignored, as a server may do, because the tunnel would begin in the middle of a message.
void note_upgrade(http::ReceivedRequest& request) {
  if (!request.connection.upgrade || request.view.version_minor == 0 || request.has_body()) return;
  http::append_upgrade_offer(request.upgrade, request.view.fields);
}

/// Sets the target in the view, unless it is refused.
std::optional<http::Refusal> read_target(const options::Downstream& downstream,
                                         std::string_view target, http::ReceivedRequest& request) {
  if (is_too_long(downstream, target)) return http::target_too_long;
  return http::set_target(request.view, target, request.target_storage, raw_bytes(downstream));
}

/// Reads what the version of HTTP decides: the form of the target, the framing, and the Connection
/// field.
ParsedHead parsed_head(const RequestRules& rules, const http::RequestLine& line,
                       http::ReceivedRequest& request) {
  auto& view = request.view;
  view.method = line.method;
  view.version_minor = static_cast<std::uint8_t>(line.version % 10);
  view.fields = request.fields;
  http::read_connection_options(view.fields, rules.kept_fields, request.connection);
  ParsedHead parsed{.target_fault = read_target(rules.options.downstream, line.target, request),
                    .framing = http::request_framing(view),
                    .keep_alive = !http::wants_close(view.version_minor, request.connection)};
  if (request.connection.too_many) parsed.connection_fault = http::head_malformed;
  return parsed;
}

}  // namespace

std::optional<http::Refusal> refuse_large_head(const options::Downstream& downstream,
                                               std::string_view head) {
  if (head.size() <= downstream.max_head) return std::nullopt;
  switch (http::fault_of_large_head(head.substr(0, downstream.max_head))) {
    case http::HeadFault::malformed:
      break;
    case http::HeadFault::too_large:
      return http::head_too_large;
    case http::HeadFault::long_target:
      return http::target_too_long;
    case http::HeadFault::long_method:
      return http::method_too_long;
  }
  return http::head_malformed;
}

std::optional<http::Refusal> inspect_head(const RequestRules& rules, std::string_view head,
                                          http::ReceivedRequest& request) {
  const auto line = http::parse_request_head(head, request.fields);
  if (!line) return http::why_refused(head, request.fields);
  const auto refusal = check_head(rules, parsed_head(rules, *line, request), request);
  if (!refusal) note_upgrade(request);
  return refusal;
}

}  // namespace weir::decision
