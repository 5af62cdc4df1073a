// The units that a request holds in a store, from its admission to their settlement.
//
// Owned by the exchange and reused. They are settled when the request has ended, by the destructor
// of the grant if an error ends the exchange, or later by the report of another proxy. Used from
// its worker's loop only.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "decision/hold_report.hpp"
#include "decision/usage_meter.hpp"
#include "http/request_view.hpp"
#include "limiter/evaluation.hpp"
#include "proxy/context.hpp"
#include "proxy/decision_record.hpp"
#include "store/store.hpp"

namespace weir::proxy {

/// The holds that an admitted request owns in a store and that end with it: settled exactly once,
/// by settle() when the response has ended, else by the destructor, whatever ends the exchange.
/// Limits that charge on admission hold nothing: without others the list of settlements is empty.
/// Move-only.
class Grant {
 public:
  Grant() = default;
  /// `settlements` and `clock` outlive the grant; `clock` is read by the destructor.
  Grant(store::Store& store, const MonotonicClock& clock,
        std::span<const store::Settlement> settlements = {})
      : store_(&store), clock_(&clock), settlements_(settlements) {}
  Grant(Grant&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)),
        clock_(other.clock_),
        settlements_(other.settlements_) {}
  Grant& operator=(Grant&& other) noexcept {
    if (this == &other) return *this;
    if (is_open()) settle(clock_->now());
    store_ = std::exchange(other.store_, nullptr);
    clock_ = other.clock_;
    settlements_ = other.settlements_;
    return *this;
  }
  ~Grant() {
    if (is_open()) settle(clock_->now());
  }

  bool is_open() const { return store_ != nullptr; }
  /// The caller ends the holds instead.
  void release() { store_ = nullptr; }
  /// Does nothing if it is settled already.
  void settle(Instant now) noexcept {
    if (store::Store* const store = std::exchange(store_, nullptr))
      store->settle(settlements_, now);
  }

 private:
  store::Store* store_ = nullptr;  ///< nullptr: nothing to settle
  const MonotonicClock* clock_ = nullptr;
  std::span<const store::Settlement> settlements_;
};

class RequestHold {
 public:
  /// Both outlive it. `evaluation`: of the request.
  RequestHold(Context& context, limiter::Evaluation& evaluation)
      : context_(context), evaluation_(evaluation) {}

  void clear() { meter_.clear(); }
  /// The store has admitted the request, with or without units to hold.
  void take(const Generation& generation) {
    grant_ = Grant(generation.limiter->store(), context_.clock, evaluation_.held.settlements);
  }
  bool has_grant() const { return grant_.is_open(); }
  /// False if there was no question to a store: the evaluation is that of an earlier request.
  bool holds_units() const { return grant_.is_open() && evaluation_.has_holds; }

  /// The reader of what the response states; nullptr: no limit of the request depends on it.
  decision::UsageMeter* prepare_meter() {
    return holds_units() && meter_.prepare(evaluation_.held) ? &meter_ : nullptr;
  }
  /// Settles the units of a request that has ended like this. `to` notes what they cost. If a limit
  /// charges by the status of gRPC that the response states, `how` receives it.
  void settle(Generation& generation, limiter::RequestEnd& how, DecisionRecord& to, Instant now) {
    if (holds_units()) return settle_units(generation, how, to, now);
    grant_.settle(now);
  }

  /// Another proxy serves the request and settles the hold: returns its id. Empty: it holds
  /// nothing; or too many holds are kept, and it is settled now, as one whose lease has ended.
  std::optional<Hash128> keep(Generation& generation, Duration lease, DecisionRecord& to);
  /// Settles the hold of another request, as another proxy reports. False: there is no such hold.
  /// `fields`: of the report, with those of the response that state the cost.
  bool settle_other(const decision::HoldReport& report, std::span<const http::FieldView> fields,
                    std::span<const limiter::Policy> policies, DecisionRecord& to);

 private:
  void settle_units(Generation& generation, limiter::RequestEnd& how, DecisionRecord& to,
                    Instant now);

  Context& context_;
  limiter::Evaluation& evaluation_;
  Grant grant_;                 ///< views the evaluation
  decision::UsageMeter meter_;  ///< of the response
};

}  // namespace weir::proxy
