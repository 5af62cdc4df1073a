// The memory store as the contract sees it.
#pragma once

#include "contract/store_under_test.hpp"
#include "store/memory_store.hpp"

namespace weir::store::test {

class MemoryStoreUnderTest : public StoreUnderTest {
 public:
  explicit MemoryStoreUnderTest(std::size_t max_keys) : store({.max_keys = max_keys, .seed = 42}) {}

  bool acquire(std::span<const Claim> claims, Instant now,
               std::span<rules::Decision> decisions) override {
    return store.acquire(claims, now, decisions);
  }
  void forget(const Hash128& identity, std::uint32_t policy_id) override {
    store.forget(identity, policy_id);
  }

  MemoryStore store;
};

}  // namespace weir::store::test
