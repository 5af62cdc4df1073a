// A link of the chain: repeats recent denials of Redis without asking again (ADR 0014).
//
// Belongs to one worker.
#pragma once

#include "store/known_denials.hpp"
#include "store/link.hpp"
#include "store/reused.hpp"

namespace weir::store {

class Denials final : public Link {
 public:
  Denials(Store& next, KnownDenials& known) : Link(next), known_(known) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override {
    if (const auto denied = known_.recall(acquisition, now)) return denied;
    auto asked = asked_.borrow(*this);
    asked->acquisition = &acquisition;
    asked->caller = &completion;
    const auto result = next_.acquire(acquisition, *asked, now);
    if (!result) {
      asked.keep();
      return std::nullopt;
    }
    note(acquisition, *result, now);
    return result;
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    known_.forget(key);
    return next_.forget(key, completion, now);
  }
  /// A refund may end the denials of its key.
  void settle(std::span<const Settlement> settlements, Instant now) override {
    for (const Settlement& settlement : settlements) {
      if (settlement.actual < 0) known_.on_refund(settlement.key, now);
    }
    next_.settle(settlements, now);
  }

 private:
  friend Forwarded<Denials>;
  void answer(Forwarded<Denials>& asked, const Result& result, Instant now) {
    note(*asked.acquisition, result, now);
    Completion& caller = *asked.caller;
    asked_.give_back(asked);
    caller.complete(result, now);
  }
  void note(const Acquisition& acquisition, const Result& result, Instant now) {
    if (result.error == Error::none && result.decider == Decider::redis)
      known_.remember(acquisition, result.admitted, now);
  }

  KnownDenials& known_;
  Reused<Forwarded<Denials>> asked_;
};

}  // namespace weir::store
