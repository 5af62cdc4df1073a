#include "proxy/request_trace.hpp"

#include <string_view>

namespace weir::proxy {
namespace {

/// True for this share of calls.
bool is_chosen(double share, Random& random) {
  constexpr int fraction_bits = 53;
  return static_cast<double>(random.next() >> (64 - fraction_bits)) * 0x1p-53 < share;
}

http::TraceparentText begun_trace(std::uint8_t flags, Random& random) {
  const Hash128 trace{.low = random.next(), .high = random.next()};
  return http::new_traceparent(trace, random.next(), flags);
}

bool is_recorded(const http::TraceParent& parent, bool peer_is_trusted,
                 const options::Tracing& tracing, Random& random) {
  const bool parent_decides =
      !parent.trace_id.empty() && (tracing.parent == options::ParentRule::all || peer_is_trusted);
  if (parent_decides) return (parent.flags & http::sampled_flag) != 0;
  return is_chosen(tracing.sample, random);
}

/// "1.1" of "HTTP/1.1", and "2" of "HTTP/2.0", as the semantic conventions write them.
std::string_view version_of(std::string_view protocol) {
  const std::string_view version = protocol.substr(protocol.find('/') + 1);
  return version == "2.0" ? "2" : version;
}

}  // namespace

void RequestTrace::begin(http::ReceivedRequest& request, const options::Tracing& tracing,
                         Random& random) {
  const http::TraceParent parent = http::trace_parent_of(request.view);
  if (tracing.records && is_recorded(parent, request.peer_is_trusted, tracing, random))
    return record(request, parent, random);
  if (!tracing.generates || !parent.trace_id.empty()) return;
  text_ = begun_trace(tracing.records ? 0 : http::sampled_flag, random);
  request.traceparent = {text_.data(), text_.size()};
}

void RequestTrace::record(http::ReceivedRequest& request, const http::TraceParent& parent,
                          Random& random) {
  is_recorded_ = true;
  request.continues_trace = !parent.trace_id.empty();
  text_ = request.continues_trace ? http::continued_traceparent(parent, random.next())
                                  : begun_trace(http::sampled_flag, random);
  request.traceparent = {text_.data(), text_.size()};
}

bool RequestTrace::end(http::ReceivedRequest& request, bool is_denied,
                       const options::Tracing& tracing, Random& random) {
  if (!is_recorded_ && is_denied && is_chosen(tracing.denied, random))
    record(request, http::trace_parent_of(request.view), random);
  return is_recorded_;
}

telemetry::Span RequestTrace::span(const http::ReceivedRequest& request,
                                   const log::AccessRecord& record,
                                   const options::Route* route) const {
  const http::TraceParent own = http::trace_parent_of(request.traceparent);
  telemetry::Span span{.trace_id = own.trace_id,
                       .span_id = own.parent_id,
                       .trace_flags = own.flags,
                       .begun_at = record.time,
                       .ended_at = record.time + record.duration,
                       .method = record.method,
                       .scheme = request.scheme,
                       .path = record.path,
                       .route = record.route,
                       .status = record.status,
                       .protocol_version = version_of(record.protocol),
                       .client = record.client,
                       .user_agent = record.user_agent,
                       .decision = to_string(record.decision),
                       .policy = record.policy,
                       .cost = record.cost,
                       .remaining = record.remaining,
                       .retry_after = record.retry_after,
                       .delay = record.delay,
                       .plan = record.plan,
                       .store = record.store,
                       .identity = record.identity,
                       .identity_kind = record.identity_kind,
                       .upstream = record.upstream,
                       .request_id = record.request_id,
                       .aborted_by = to_string(record.aborted_by)};
  if (request.continues_trace) span.parent_id = http::trace_parent_of(request.view).parent_id;
  if (route != nullptr) span.route_pattern = route->shown_path;
  return span;
}

}  // namespace weir::proxy
