#include "store/asked.hpp"

#include <array>
#include <cstddef>

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {
namespace {

using namespace std::literals;

constexpr std::uint64_t hash = 99;

/// Claims of one request on one key.
template <std::size_t count>
struct LinkedClaims {
  LinkedClaims(Shard& shard, const std::array<Claim, count>& its_claims) : claims(its_claims) {
    for (std::size_t i = 0; i < count; ++i) {
      asked[i] = {.claim = &claims[i],
                  .policy = claims[i].policy,
                  .decision = &decisions[i],
                  .leads = i == 0};
      if (i > 0) asked[i - 1].next = &asked[i];
    }
    asked[0].shard = &shard;
    asked[0].hash = hash;
    asked[0].slot = shard.find(hash);
  }
  LinkedClaims(const LinkedClaims&) = delete;
  LinkedClaims& operator=(const LinkedClaims&) = delete;

  bool allowed(std::size_t i) const { return asked[i].admission.allowed; }

  std::array<Claim, count> claims;
  std::array<rules::Decision, count> decisions{};
  std::array<Asked, count> asked{};
};

}  // namespace

TEST_CASE("Asking charges nothing; settling an admitted request charges it") {
  Shard shard(10);
  const auto limit = policy(rules::Algorithm::fixed_window, 3, 60s);
  for (int repeat = 0; repeat < 2; ++repeat) {
    LinkedClaims<1> chain(shard, {claim(limit, 1, 2)});
    ask(chain.asked[0], epoch);
    CHECK(chain.allowed(0));
    CHECK(shard.keys() == 0);
  }
  LinkedClaims<1> first(shard, {claim(limit, 1, 2)});
  ask(first.asked[0], epoch);
  settle(first.asked[0], epoch, true);
  CHECK(first.decisions[0].allowed);
  CHECK(first.decisions[0].remaining == 1);
  REQUIRE(shard.find(hash) != nullptr);
  CHECK(shard.find(hash)->whole_at_s == ceil_s(epoch + 60s));
  LinkedClaims<1> second(shard, {claim(limit, 1, 2)});
  ask(second.asked[0], epoch);
  CHECK_FALSE(second.allowed(0));
}

TEST_CASE("A later claim on the same key does not get the units of an earlier one") {
  Shard shard(10);
  const auto limit = policy(rules::Algorithm::gcra, 3, 60s);
  LinkedClaims<3> chain(shard, {claim(limit, 1, 2), claim(limit, 1, 2), claim(limit, 1, 1)});
  ask(chain.asked[0], epoch);
  CHECK(chain.allowed(0));
  CHECK_FALSE(chain.allowed(1));
  CHECK(chain.allowed(2));
  settle(chain.asked[0], epoch, true);
  for (const rules::Decision& decision : chain.decisions)
    CHECK(decision.remaining == 0);
}

TEST_CASE("A request that is not admitted is charged only where rejected requests count") {
  Shard shard(10);
  const auto limit = policy(rules::Algorithm::gcra, 3, 60s);
  LinkedClaims<1> chain(shard, {claim(limit, 1, 2)});
  ask(chain.asked[0], epoch);
  settle(chain.asked[0], epoch, false);
  CHECK(chain.decisions[0].allowed);
  CHECK(chain.decisions[0].remaining == 3);
  CHECK_FALSE(chain.decisions[0].retry_after);
  CHECK(shard.keys() == 0);

  const auto counting = policy({.algorithm = rules::Algorithm::fixed_window,
                                .rates = {{.count = 3, .per = 60s}},
                                .count_rejected = true});
  LinkedClaims<1> counted(shard, {claim(counting, 1, 2)});
  ask(counted.asked[0], epoch);
  settle(counted.asked[0], epoch, false);
  CHECK(counted.decisions[0].allowed);
  CHECK(counted.decisions[0].remaining == 1);
  CHECK(counted.decisions[0].retry_after == 60s);  // the same demand would not pass again
  CHECK(shard.keys() == 1);
}

TEST_CASE("The last demand with a cost marks the key, a look does not") {
  Shard shard(10);
  const auto limit = policy(rules::Algorithm::gcra, 1, 60s);
  const auto decide = [&](std::int64_t cost) {
    LinkedClaims<1> chain(shard, {claim(limit, 1, cost)});
    ask(chain.asked[0], epoch);
    settle(chain.asked[0], epoch, chain.allowed(0));
    return shard.find(hash)->denied;
  };
  CHECK_FALSE(decide(1));
  CHECK(decide(1));
  CHECK(decide(0));
}

TEST_CASE("A state of another algorithm is replaced by a fresh one") {
  Shard shard(10);
  const auto before = policy(rules::Algorithm::sliding_log, 1, 60s);
  const auto after = policy(rules::Algorithm::gcra, 1, 60s);
  for (const auto* const limit : {&before, &after}) {
    LinkedClaims<1> chain(shard, {claim(*limit, 1, 1)});
    ask(chain.asked[0], epoch);
    CHECK(chain.allowed(0));
    settle(chain.asked[0], epoch, true);
    CHECK(shard.find(hash)->algorithm == limit->algorithm);
  }
  CHECK(shard.keys() == 1);
}

}  // namespace weir::store::test
