// The memory store as the contract sees it.
#pragma once

#include "contract/store_under_test.hpp"
#include "store/memory_store.hpp"

namespace weir::store::test {

class MemoryStoreUnderTest : public InterfaceUnderTest {
 public:
  explicit MemoryStoreUnderTest(std::size_t max_keys)
      : memory({.max_keys = max_keys, .seed = 42}) {}

  bool supports_holds() const override { return true; }
  Store& store() override { return memory; }
  Overrides& overrides() override { return memory.overrides(); }
  EntryReport entries(const Claim& claim, Instant now) override {
    return memory.entries({claim.identity, claim.policy_id}, *claim.policy, now);
  }

  MemoryStore memory;

 protected:
  /// Every call returns its result at once.
  void wait_for(const Received&) override {
    throw std::runtime_error("the memory store did not return a result");
  }
  void wait_for(const std::optional<OverrideReport>& report) override {
    if (!report) throw std::runtime_error("the memory store did not report");
  }
};

}  // namespace weir::store::test
