// A chain before a fake store, and requests through it.
#pragma once

#include <optional>

#include "catch.hpp"
#include "store/chain.hpp"
#include "store/circuit_breaker.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::store::test {

struct ChainFixture {
  Chain& chain() {
    if (!chain_) {
      breaker_options.timeout = options.timeout;
      breaker_.emplace(remote, breaker_options, breaker_counters);
      chain_.emplace(*breaker_, local, options, counters);
      chain_->probe(epoch - 1s);  // as a worker before the first request
      confirm(epoch - 1s);
    }
    return *chain_;
  }
  /// Answers a read of the generation.
  void confirm(Instant now) {
    if (remote.reading != nullptr) remote.answer_generation(generation, now);
  }
  Store& front() { return chain().front(); }
  /// A claim whose local share is one unit.
  Claim shared(const rules::Policy& shared_policy, std::uint64_t who = 1,
               std::uint32_t policy_id = 0) {
    return shared_claim(shared_policy, one, who, policy_id);
  }
  /// Through to the result, which is there at once or as soon as the remote store answers.
  void serve(Request& request, Duration after = 0s, Error error = Error::none) {
    request.come(front(), after);
    confirm(epoch + after);
    if (request.waits()) remote.answer_all(epoch + after, error);
    REQUIRE(request.times == 1);
  }
  NodeControl::State breaker() { return breaker_counters.state.load(); }

  ChainCounters counters;
  FakeStore remote;
  MemoryStore local{{.max_keys = 1'000, .seed = 3}};
  ChainOptions options{.timeout = 5s, .seed = 1};
  NodeControl::Options breaker_options{.failures = 2, .retry_after = 1s};
  BreakerCounters breaker_counters;
  rules::Policy one = gcra(1);
  std::uint64_t generation = 7;

 private:
  std::optional<CircuitBreaker> breaker_;
  std::optional<Chain> chain_;
};

}  // namespace weir::store::test
