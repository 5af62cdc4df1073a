#include "catch.hpp"
#include "contract/random_requests.hpp"
#include "contract/store_contract.hpp"
#include "seed.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {

TEST_CASE("The memory store keeps the contract of stores") {
  for (const auto& one : store_contract) {
    DYNAMIC_SECTION(one.name) {
      MemoryStoreUnderTest store(1'000);
      one.run(store);
    }
  }
}

TEST_CASE("The memory store answers random requests as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      MemoryStoreUnderTest store(1'000);
      agrees_with_model(store, policies_of(algorithm), {.seed = 7, .clock_steps_back = true});
    }
  }
}

TEST_CASE(
    "The memory store carries over what a policy that changes had counted, as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      MemoryStoreUnderTest store(1'000);
      agrees_with_model(store, policies_of(algorithm), {.seed = 17, .policies_change = true});
    }
  }
}

TEST_CASE("Many shards answer random requests as the model does") {
  std::vector<rules::Policy> policies;
  for (const auto algorithm : algorithms) {
    for (auto& limit : policies_of(algorithm))
      policies.push_back(std::move(limit));
  }
  MemoryStoreUnderTest store(1'000'000);
  agrees_with_model(store, policies, {.seed = 11, .identities = 300});
}

TEST_CASE("The memory store reads overrides that are put, removed and end, as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      MemoryStoreUnderTest store(1'000);
      agrees_with_model(
          store, policies_of(algorithm),
          {.seed = 23, .identities = 5, .steps = history_length(10'000), .overrides_change = true});
    }
  }
}

}  // namespace weir::store::test
