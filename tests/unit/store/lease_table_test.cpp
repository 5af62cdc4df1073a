#include "store/lease_table.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "unit/http/allocations.hpp"

namespace weir::store {
namespace {

using namespace test;

struct OneSet {
  Claim of(std::uint64_t who, std::uint32_t revision = 0) const {
    Claim result = claim(limit, who);
    result.policy_revision = revision;
    result.lease = &units;
    return result;
  }

  rules::Policy limit = policy(rules::Algorithm::gcra, 10, 1s);
  std::shared_ptr<Gauge> units = std::make_shared<Gauge>();
  LeaseTable table{1, 7};
};

TEST_CASE("a table finds the keys that it has taken") {
  OneSet set;
  CHECK(set.table.find(set.of(1)) == nullptr);
  LeasedKey* const key = set.table.take(set.of(1));
  REQUIRE(key != nullptr);
  CHECK(key->limit == 10);
  CHECK(set.table.take(set.of(1)) == key);
  CHECK(set.table.find(set.of(1)) == key);
  CHECK(set.table.find(Key{set.of(1).identity, 0}) == key);
  CHECK(set.table.find(Key{set.of(1).identity, 1}) == nullptr);
  CHECK(set.table.find(set.of(1, 1)) == nullptr);
}

TEST_CASE("a new key replaces the least recently used one, never one that is active") {
  OneSet set;
  LeasedKey* keys[4];
  for (std::uint64_t who = 1; who <= 4; ++who) {
    keys[who - 1] = set.table.take(set.of(who));
    keys[who - 1]->lease.demand().note_request(epoch + 1ms * static_cast<std::int64_t>(who), 200ms);
  }
  set.table.activate(*keys[0], set.of(1));
  CHECK(set.table.take(set.of(5)) == keys[1]);
  CHECK(set.table.find(set.of(2)) == nullptr);
  for (std::size_t i = 1; i < 4; ++i)
    set.table.activate(*keys[i], set.of(1));
  CHECK(set.table.take(set.of(6)) == nullptr);
}

TEST_CASE("an active key keeps its revision, its policy and its gauge until the sweep") {
  OneSet set;
  LeasedKey* const key = set.table.take(set.of(1));
  set.table.activate(*key, set.of(1));
  CHECK(set.table.active().size() == 1);
  CHECK(key->policy->capacity == 10);
  CHECK(key->units == set.units);
  CHECK(set.table.take(set.of(1, 1)) == nullptr);
  set.table.sweep([](const LeasedKey&) { return true; });
  CHECK(key->is_active);
  set.table.sweep([](const LeasedKey&) { return false; });
  CHECK_FALSE(key->is_active);
  CHECK(key->policy == nullptr);
  CHECK(set.units.use_count() == 1);
  CHECK(set.table.take(set.of(1, 1)) == key);
  CHECK(key->revision == 1);
}

TEST_CASE("a table without memory takes and activates no key, and does so later") {
  for (const std::size_t number : {1, 2}) {
    OneSet set;
    const Claim claim = set.of(1);
    bool is_thrown = false;
    CHECK(is_failed_allocation(number, [&] {
      try {
        set.table.take(claim);
      } catch (const std::bad_alloc&) {
        is_thrown = true;
      }
    }));
    CHECK(is_thrown);
    CHECK(set.table.find(claim) == nullptr);
    LeasedKey* const key = set.table.take(claim);
    REQUIRE(key != nullptr);
    without_memory([&] {
      try {
        is_thrown = false;
        set.table.activate(*key, claim);
      } catch (const std::bad_alloc&) {
        is_thrown = true;
      }
    });
    CHECK(is_thrown);
    CHECK_FALSE(key->is_active);
    CHECK(set.table.active().empty());
    set.table.activate(*key, claim);
    CHECK(key->is_active);
  }
}

}  // namespace
}  // namespace weir::store
