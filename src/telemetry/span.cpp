#include "telemetry/span.hpp"

#include <algorithm>
#include <array>

#include "base/appender.hpp"
#include "json/write.hpp"
#include "telemetry/attributes.hpp"

namespace weir::telemetry {
namespace {

constexpr int kind_server = 2;
constexpr int status_error = 2;
/// SpanFlags of trace.proto: whether the parent is remote is known, and it is.
constexpr unsigned has_is_remote = 0x100;
constexpr unsigned is_remote = 0x200;
constexpr int first_server_error = 500;

/// Methods that the semantic conventions list; any other one is `_OTHER`, because a client may make
/// up as many as it likes.
constexpr std::array<std::string_view, 9> known_methods{
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"};
constexpr std::size_t longest_method = 32;

bool is_known(std::string_view method) {
  return std::ranges::find(known_methods, method) != known_methods.end();
}

/// The name has few values: the method, and the path of the route.
void append_name(Appender& out, const Span& span) {
  out.add('"').add(is_known(span.method) ? span.method : "HTTP");
  if (!span.route_pattern.empty()) json::append_escaped(out.add(' '), span.route_pattern);
  out.add('"');
}

void add_request(Attributes& to, const Span& span) {
  if (is_known(span.method)) {
    to.text("http.request.method", span.method);
  } else if (!span.method.empty()) {
    to.text("http.request.method", "_OTHER")
        .text("http.request.method_original", span.method.substr(0, longest_method));
  }
  to.text("url.scheme", span.scheme)
      .text("url.path", span.path.substr(0, longest_path))
      .text("http.route", span.route_pattern)
      .text("network.protocol.version", span.protocol_version)
      .text("client.address", span.client ? span.client->text() : std::string_view())
      .text("user_agent.original", span.user_agent.substr(0, longest_user_agent));
}

/// Whole milliseconds, rounded up, as in the access log.
std::optional<std::int64_t> milliseconds(std::optional<Duration> value) {
  if (!value) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(*value).count();
}

void add_decision(Attributes& to, const Span& span) {
  to.text("rate_limit.decision", span.decision)
      .text("rate_limit.policy", span.policy)
      .number("rate_limit.cost", span.cost)
      .number("rate_limit.remaining", span.remaining)
      .number("rate_limit.retry_after_ms", milliseconds(span.retry_after))
      .number("rate_limit.delay_ms", milliseconds(span.delay))
      .text("rate_limit.store", span.store);
  if (span.identity) {
    to.text("rate_limit.identity", to_hex(*span.identity))
        .text("rate_limit.identity_kind", span.identity_kind);
  }
  to.text("rate_limit.plan", span.plan);
}

/// A client's error, or its departure, is none of the server (semantic conventions, HTTP spans).
std::string error_of(const Span& span) {
  if (!span.aborted_by.empty() && span.aborted_by != "client") return "aborted";
  return span.status >= first_server_error ? std::to_string(span.status) : "";
}

}  // namespace

void append_span(std::string& text, const Span& span) {
  Appender out(text);
  out.add(R"({"traceId":")").add(span.trace_id).add(R"(","spanId":")").add(span.span_id);
  if (!span.parent_id.empty()) out.add(R"(","parentSpanId":")").add(span.parent_id);
  out.add(R"(","flags":)")
      .number(span.trace_flags | has_is_remote | (span.parent_id.empty() ? 0U : is_remote));
  append_name(out.add(R"(,"name":)"), span);
  out.add(R"(,"kind":)").number(kind_server);
  append_nanoseconds(out.add(R"(,"startTimeUnixNano":)"), span.begun_at);
  append_nanoseconds(out.add(R"(,"endTimeUnixNano":)"), span.ended_at);
  const std::string error = error_of(span);
  Attributes attributes(out.add(R"(,"attributes":)"));
  add_request(attributes, span);
  if (span.status != 0) attributes.number("http.response.status_code", span.status);
  attributes.text("error.type", error);
  add_decision(attributes, span);
  attributes.text("weir.route", span.route)
      .text("weir.upstream", span.upstream)
      .text("weir.request_id", span.request_id)
      .text("weir.aborted_by", span.aborted_by)
      .end();
  if (!error.empty()) out.add(R"(,"status":{"code":)").number(status_error).add('}');
  out.add('}');
}

}  // namespace weir::telemetry
