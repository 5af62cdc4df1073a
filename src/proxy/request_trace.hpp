// The trace of one request: whether a span of it is exported, and the traceparent that its upstream
// receives (W3C Trace Context; docs/opentelemetry.md).
//
// The decision is made before the request is forwarded, so that the upstream gets the id of the
// span. A denied request is forwarded to nobody: its span may be chosen at the end. Owned by the
// exchange and reused. Used from its worker's loop only.
#pragma once

#include "base/random.hpp"
#include "http/received_request.hpp"
#include "http/trace_context.hpp"
#include "log/access_log.hpp"
#include "options/proxy.hpp"
#include "telemetry/span.hpp"

namespace weir::proxy {

class RequestTrace {
 public:
  void clear() { is_recorded_ = false; }

  /// Chooses whether the request is recorded, and sets the traceparent that is sent in the place of
  /// the client's, if Weir begins the trace or has a span in it.
  void begin(http::ReceivedRequest& request, const options::Tracing& tracing, Random& random);
  /// The request has ended. Returns true if it has a span.
  bool end(http::ReceivedRequest& request, bool is_denied, const options::Tracing& tracing,
           Random& random);
  /// The span of a request that has one. `record`: its line of the access log.
  telemetry::Span span(const http::ReceivedRequest& request, const log::AccessRecord& record,
                       const options::Route* route) const;

 private:
  void record(http::ReceivedRequest& request, const http::TraceParent& parent, Random& random);

  http::TraceparentText text_{};  ///< see ReceivedRequest::traceparent
  bool is_recorded_ = false;
};

}  // namespace weir::proxy
