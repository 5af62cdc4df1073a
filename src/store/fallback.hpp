// A link of the chain: decides by on_failure what the store after it does not decide, and what has
// no time left.
//
// Claims with OnFailure::local are decided together by the memory store, with their local_rule.
// Those with OnFailure::allow do not take part. A non-shadow claim with OnFailure::deny fails the
// request, and nothing is charged; so does a lack of memory. Belongs to one worker.
#pragma once

#include "store/chain_counters.hpp"
#include "store/link.hpp"
#include "store/memory_store.hpp"
#include "store/reused.hpp"

namespace weir::store {

class Fallback final : public Link {
 public:
  /// `timeout` of a decision, from Acquisition::arrived_at.
  Fallback(Store& next, MemoryStore& local, Duration timeout, ChainCounters& counters)
      : Link(next), local_(local), timeout_(timeout), counters_(counters) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  /// The local share of the key is removed too.
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    local_.forget(key);
    return next_.forget(key, completion, now);
  }
  /// Each goes to the store that granted it.
  void settle(std::span<const Settlement> settlements, Instant now) override;

 private:
  friend Forwarded<Fallback>;
  void answer(Forwarded<Fallback>& asked, const Result& result, Instant now);
  Result decide_alone(Acquisition& acquisition, Error why, Instant now) noexcept;
  Result decide_locally(Acquisition& acquisition, Instant now);

  MemoryStore& local_;
  Duration timeout_;
  ChainCounters& counters_;
  Reused<Forwarded<Fallback>> asked_;
};

}  // namespace weir::store
