// A chain before a fake store, and requests through it.
#pragma once

#include <optional>

#include "catch.hpp"
#include "store/chain.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::store::test {

struct ChainFixture {
  Chain& chain() {
    if (!chain_) {
      chain_.emplace(remote, local, options, counters);
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
  NodeControl::State breaker() { return chain().counters().breaker.load(); }

  ChainCounters counters;
  FakeStore remote;
  MemoryStore local{{.max_keys = 1'000, .seed = 3}};
  ChainOptions options{.timeout = 5s, .breaker_failures = 2, .breaker_retry_after = 1s, .seed = 1};
  rules::Policy one = gcra(1);
  std::uint64_t generation = 7;

 private:
  std::optional<Chain> chain_;
};

}  // namespace weir::store::test
