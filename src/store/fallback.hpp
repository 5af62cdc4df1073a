// A link of the chain: decides by on_failure if the next store does not decide, or if there is no
// time left to ask it.
//
// Claims with OnFailure::local are decided together by the memory store, with their local_policy.
// Claims with OnFailure::allow do not take part. A non-shadow claim with OnFailure::deny fails the
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
  /// Removes the key in the memory store too.
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    local_.forget(key);
    return next_.forget(key, completion, now);
  }
  /// Passes each settlement to the store that granted its hold.
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
