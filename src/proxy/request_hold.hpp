// The units that a request holds in a store, from its admission to their settlement.
//
// Owned by the exchange and reused. They are settled when the request has ended, by the destructor
// of the grant if an error ends the exchange, or later by the report of another proxy. Used from
// its worker's loop only.
#pragma once

#include <optional>
#include <span>

#include "http/request_view.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/grant.hpp"
#include "proxy/context.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/hold_report.hpp"
#include "proxy/usage_meter.hpp"

namespace weir::proxy {

class RequestHold {
 public:
  /// Both outlive it. `evaluation`: of the request.
  RequestHold(Context& context, limiter::Evaluation& evaluation)
      : context_(context), evaluation_(evaluation) {}

  void clear() { meter_.clear(); }
  /// The store has admitted the request, with or without units to hold.
  void take(const Generation& generation) {
    grant_ = generation.limiter->grant(evaluation_.held, context_.clock);
  }
  bool has_grant() const { return grant_.is_open(); }
  /// False if there was no question to a store: the evaluation is that of an earlier request.
  bool holds_units() const { return grant_.is_open() && evaluation_.has_holds; }

  /// The reader of what the response states; nullptr: no limit of the request depends on it.
  UsageMeter* prepare_meter() {
    return holds_units() && meter_.prepare(evaluation_.held) ? &meter_ : nullptr;
  }
  /// Settles the units of a request that has ended like this. `to` notes what they cost.
  void settle(Generation& generation, const limiter::RequestEnd& how, DecisionRecord& to,
              Instant now) {
    if (holds_units()) return settle_units(generation, how, to, now);
    grant_.settle(now);
  }

  /// Another proxy serves the request and settles the hold: returns its id. Empty: it holds
  /// nothing; or too many holds are kept, and it is settled now, as one whose lease has ended.
  std::optional<Hash128> keep(Generation& generation, Duration lease, DecisionRecord& to);
  /// Settles the hold of another request, as another proxy reports. False: there is no such hold.
  /// `fields`: of the report, with those of the response that state the cost.
  bool settle_other(const HoldReport& report, std::span<const http::FieldView> fields,
                    std::span<const limiter::Policy> policies, DecisionRecord& to);

 private:
  void settle_units(Generation& generation, const limiter::RequestEnd& how, DecisionRecord& to,
                    Instant now);

  Context& context_;
  limiter::Evaluation& evaluation_;
  limiter::Grant grant_;  ///< views the evaluation
  UsageMeter meter_;      ///< of the response
};

}  // namespace weir::proxy
