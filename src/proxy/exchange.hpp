// One request and its response, through the phases of docs/life-of-a-request.md: find routes,
// decide, wait, forward or answer, finish.
//
// An exchange reads from a RequestBody and writes to a Responder; it does not depend on the
// client's protocol. Its buffers are reused for the next request. Used from its worker's loop only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "decision/decision.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "http/request_id.hpp"
#include "log/access_log.hpp"
#include "proxy/check_call.hpp"
#include "proxy/context.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/exchange_copy.hpp"
#include "proxy/failure.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/generation.hpp"
#include "proxy/request_body.hpp"
#include "proxy/request_hold.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/responder.hpp"
#include "proxy/slot_wait.hpp"
#include "proxy/stated_costs.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

class Exchange {
 public:
  explicit Exchange(Context& context) : context_(context) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Begins a request of this client, under the running configuration.
  void begin(const ClientSide& client);
  /// Releases the configuration, and settles a grant that an error has left open.
  void release();

  /// The request, which the connection fills in before it calls serve() or refuse().
  http::ReceivedRequest& request() { return request_; }
  const Generation& generation() const { return *generation_; }
  const options::Proxy& options() const { return generation_->options; }

  /// All phases of an inspected request, except finish().
  loop::Task<> serve();
  /// Answers a request that cannot be accepted.
  loop::Task<> refuse(http::Refusal refusal);
  /// Counts and logs the request, and settles its grant.
  void finish();
  /// True if an upstream connection was given back that only this client may reuse.
  bool has_own_upstreams() const { return forwarded_.has_own_connection; }

 private:
  void take_route();
  bool decide();
  loop::Task<> await_store();
  loop::Task<bool> prepare();
  void conclude();
  loop::Task<> wait_for_slot();
  loop::Task<> serve_rate_limit_call();
  loop::Task<> answer(OwnAnswer answer);
  loop::Task<> answer_undecided();
  loop::Task<> answer_denied();
  loop::Task<> answer_admitted();
  ForwardPhase forward_phase();
  loop::Task<> fail(Failure failure);
  void settle(Instant now);
  int status() const;
  log::AccessRecord record(Duration took) const;

  Context& context_;
  ClientSide client_;
  /// The configuration at the start of the request, kept until its end, or that of the next event
  /// of a health watch.
  Pin generation_;
  http::ReceivedRequest request_;
  http::UuidText own_id_{};  ///< see ReceivedRequest::id
  RequestTrace trace_;
  decision::Decision decision_;
  StoreAnswer store_answer_;
  RequestHold hold_{context_, decision_.evaluation()};
  ExchangeCopy copy_;  ///< while a configuration is in shadow
  DecisionRecord recorded_;
  StatedCosts stated_;                ///< by the request
  std::unique_ptr<CheckCall> check_;  ///< the request is that of a Check
  std::string target_;                ///< for the upstream, if the route changes the path
  ForwardingRecord forwarded_;
  Instant started_at_;
  Instant asked_at_;
  Instant decided_at_;
  std::optional<int> response_status_;  ///< of the upstream or the route; empty: there was none
  std::optional<int> counted_status_;   ///< if another one is sent: the answer is in gRPC's terms
  bool client_is_gone_ = false;         ///< it left before the response was complete
  bool deadline_has_passed_ = false;    ///< of a gRPC call
  log::AbortedBy cut_by_ = log::AbortedBy::none;  ///< after the response had begun
  RequestCount count_;
};

}  // namespace weir::proxy
