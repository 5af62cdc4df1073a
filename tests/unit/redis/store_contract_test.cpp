#include "contract/store_contract.hpp"

#include "catch.hpp"
#include "contract/random_requests.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;

TEST_CASE("The Redis store keeps the contract of stores") {
  for (const auto& one : store_contract) {
    DYNAMIC_SECTION(one.name) {
      RedisUnderTest store;
      one.run(store);
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("The Redis store answers random requests as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      RedisUnderTest store;
      agrees_with_model(store, policies_of(algorithm), {.seed = 7, .steps = walk_steps});
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE(
    "The Redis store carries over what a policy that changes had counted, as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      RedisUnderTest store;
      agrees_with_model(store, policies_of(algorithm),
                        {.seed = 17, .steps = walk_steps, .policies_change = true});
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE(
    "The Redis store with scripts of several algorithms answers random requests as the model "
    "does") {
  std::vector<rules::Policy> policies;
  for (const auto algorithm : algorithms) {
    for (auto& limit : policies_of(algorithm))
      policies.push_back(std::move(limit));
  }
  RedisUnderTest store;
  agrees_with_model(store, policies, {.seed = 11, .identities = 30, .steps = walk_steps});
  store.every_key_outlives_its_recovery();
}

TEST_CASE("The Redis store reads overrides that are put, removed and end, as the model does") {
  for (const auto algorithm : algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      RedisUnderTest store;
      agrees_with_model(
          store, policies_of(algorithm),
          {.seed = 23, .identities = 5, .steps = walk_steps / 2, .overrides_change = true});
    }
  }
}

}  // namespace weir::redis::test
