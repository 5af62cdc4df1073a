// Requests with claims in several divisions. Random histories end in the states of the model, in
// which one store decides all claims together.
#include "store/split_requests.hpp"

#include <random>

#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "contract/random_requests.hpp"
#include "seed.hpp"
#include "unit/store/fake_store.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {
namespace {

/// An identity's own number is its division.
struct ByIdentity final : Divisions {
  std::uint32_t division_of(const Hash128& identity) const override {
    return static_cast<std::uint32_t>(identity.low % divisions);
  }
  std::uint32_t divisions = 1'000;
};

class SplitUnderTest final : public MemoryStoreUnderTest {
 public:
  explicit SplitUnderTest(std::uint32_t divisions) : MemoryStoreUnderTest(10'000) {
    by_identity.divisions = divisions;
  }
  Store& store() override { return split; }

  ByIdentity by_identity;
  SplitRequests split{memory, by_identity};
};

/// Two claims in different divisions before a store that answers later.
struct SplitFixture {
  explicit SplitFixture(std::int64_t first = 2, std::int64_t second = 1)
      : limit(gcra(first)),
        other(gcra(second)),
        request({shared_claim(limit, share, 1, 0), shared_claim(other, share, 2, 1)}) {}

  std::int64_t left(const rules::Policy& policy, std::uint64_t who, std::uint32_t policy_id) {
    Claim look = claim(policy, who, 0, policy_id);
    rules::Decision decision;
    remote.server.decide({&look, 1}, epoch, {&decision, 1});
    return decision.remaining;
  }
  std::int64_t settle() {
    std::int64_t charged = 0;
    for (const Settlement& one : remote.settled)
      charged += one.actual;
    remote.server.settle(remote.settled, epoch);
    remote.settled.clear();
    return charged;
  }

  rules::Policy share = gcra(1);
  rules::Policy limit;
  rules::Policy other;
  FakeStore remote;
  ByIdentity by_identity;
  SplitRequests link{remote, by_identity};
  Request request;
};

}  // namespace

TEST_CASE("Claims of one division are passed on as they are") {
  SplitFixture fixture;
  fixture.by_identity.divisions = 1;
  fixture.request.come(fixture.link, 0s);
  REQUIRE(fixture.remote.pending.size() == 1);
  CHECK(fixture.remote.pending[0].acquisition == &fixture.request.acquisition);
  fixture.remote.answer_all(epoch);
  CHECK(fixture.request.admitted());
  CHECK(fixture.remote.settle_calls == 0);
}

TEST_CASE("Each division is asked at once; the holds are settled when all have admitted") {
  SplitFixture fixture;
  fixture.request.come(fixture.link, 0s);
  REQUIRE(fixture.remote.pending.size() == 2);
  for (const auto& asked : fixture.remote.pending)
    CHECK(asked.acquisition->claims[0].holds);
  fixture.remote.answer(epoch);
  CHECK(fixture.request.waits());
  CHECK(fixture.remote.settle_calls == 0);
  fixture.remote.answer(epoch);
  REQUIRE(fixture.request.admitted());
  CHECK(fixture.request.times == 1);
  CHECK(fixture.request.decisions[0].remaining == 1);
  CHECK(fixture.request.decisions[0].held == 0);
  CHECK(fixture.remote.settle_calls == 1);
  CHECK(fixture.settle() == 2);
  CHECK(fixture.left(fixture.limit, 1, 0) == 1);
  CHECK(fixture.left(fixture.other, 2, 1) == 0);
}

TEST_CASE("If one division denies, nothing is charged in the others") {
  SplitFixture fixture(2, 0 + 1);
  fixture.request.come(fixture.link, 0s);
  fixture.remote.answer_all(epoch);
  REQUIRE(fixture.request.admitted());
  fixture.settle();
  Request second({fixture.request.claims[0], fixture.request.claims[1]});
  second.come(fixture.link, 0s);
  fixture.remote.answer_all(epoch);
  REQUIRE(second.denied());
  CHECK(second.decisions[0].allowed);
  CHECK(second.decisions[0].remaining == 1);
  CHECK(second.decisions[0].held == 0);
  CHECK_FALSE(second.decisions[1].allowed);
  CHECK(fixture.settle() == 0);
  CHECK(fixture.left(fixture.limit, 1, 0) == 1);
}

TEST_CASE("An error of one division is the result, and the others are settled with 0") {
  SplitFixture fixture;
  fixture.request.come(fixture.link, 0s);
  fixture.remote.answer(epoch);
  fixture.remote.answer(epoch, Error::timeout);
  REQUIRE(fixture.request.result.has_value());
  CHECK(fixture.request.result->error == Error::timeout);
  CHECK(fixture.request.result->decided == 0);
  CHECK(fixture.settle() == 0);
  CHECK(fixture.left(fixture.limit, 1, 0) == 2);
}

TEST_CASE("A claim that holds by itself stays held if the request is admitted") {
  SplitFixture fixture;
  fixture.request.claims[0].holds = true;
  fixture.request.come(fixture.link, 0s);
  fixture.remote.answer_all(epoch);
  REQUIRE(fixture.request.admitted());
  CHECK(fixture.request.decisions[0].held == 1);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].key.policy_id == 1);
}

TEST_CASE("A part that this instance decided alone is settled where its units are held") {
  SplitFixture fixture;
  fixture.request.come(fixture.link, 0s);
  REQUIRE(fixture.remote.pending.size() == 2);
  const auto alone = fixture.remote.pending[1];
  fixture.remote.pending.pop_back();
  fixture.remote.answer(epoch);
  alone.acquisition->decisions[0] = {.allowed = true, .limit = 1, .held = 1};
  alone.completion->complete(
      {.admitted = true, .decider = Decider::local, .decided = 1, .alone = 1}, epoch);
  REQUIRE(fixture.request.result.has_value());
  CHECK(fixture.request.result->admitted);
  CHECK(fixture.request.result->decider == Decider::local);
  CHECK(fixture.request.result->alone == 0b10);
  REQUIRE(fixture.remote.settled.size() == 2);
  CHECK_FALSE(fixture.remote.settled[0].alone);
  CHECK(fixture.remote.settled[0].policy == &fixture.limit);
  CHECK(fixture.remote.settled[1].alone);
  CHECK(fixture.remote.settled[1].policy == &fixture.share);
}

TEST_CASE("Rejected requests that are merged are all charged where rejections count") {
  rules::Definition definition{.algorithm = rules::Algorithm::fixed_window,
                               .rates = {{.count = 10, .per = 3600s}}};
  definition.count_rejected = true;
  const rules::Policy counting = policy(definition);
  const rules::Policy one = gcra(1);
  SplitFixture fixture;
  Request spend({shared_claim(one, fixture.share, 2, 1)});
  spend.come(fixture.link, 0s);
  fixture.remote.answer_all(epoch);
  Request request(
      {shared_claim(counting, fixture.share, 1, 0), shared_claim(one, fixture.share, 2, 1)});
  request.acquisition.repeats = 3;
  request.come(fixture.link, 0s);
  fixture.remote.answer_all(epoch);
  REQUIRE(request.denied());
  fixture.settle();
  CHECK(fixture.left(counting, 1, 0) == 6);
}

TEST_CASE("Claims of one division keep the contracts of stores and of holds") {
  for (const auto& one : store_contract) {
    DYNAMIC_SECTION(one.name) {
      SplitUnderTest store(1);
      one.run(store);
    }
  }
  for (const auto& one : hold_contract) {
    DYNAMIC_SECTION("holds: " << one.name) {
      SplitUnderTest store(1);
      REQUIRE(store.supports_holds());
      one.run(store);
    }
  }
}

TEST_CASE("Random requests over several divisions charge what one store would charge") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  std::vector<rules::Policy> policies;
  for (const auto algorithm : algorithms) {
    // A turn in a queue counts from the settlement, not from the decision.
    if (algorithm == rules::Algorithm::leaky_bucket) continue;
    for (auto& limit : policies_of(algorithm))
      policies.push_back(std::move(limit));
  }
  SplitUnderTest store(7);
  StoreModel model;
  Instant now = epoch;
  int admitted = 0;
  int divided = 0;
  constexpr int steps = history_length(5'000);
  for (int step = 0; step < steps; ++step) {
    now += Duration{below(400'000)};
    std::vector<Claim> claims;
    const std::size_t count = 1 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = below(policies.size());
      Claim one = claim(policies[at], below(5), 1 + static_cast<std::int64_t>(below(3)),
                        static_cast<std::uint32_t>(at));
      one.shadow = below(8) == 0;
      claims.push_back(one);
    }
    std::vector<rules::Decision> decisions(count);
    std::vector<rules::Decision> expected(count);
    const bool is_admitted = store.acquire(claims, now, decisions);
    REQUIRE(is_admitted == model.acquire(claims, now, expected));
    admitted += is_admitted ? 1 : 0;
    divided += claims.size() > 1 && claims[0].identity != claims[1].identity ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(step, i, to_string(claims[i].policy->algorithm));
      REQUIRE(decisions[i].allowed == expected[i].allowed);
      REQUIRE(decisions[i].held == 0);
      Claim look = claims[i];
      look.demand.cost = 0;
      store.peek({&look, 1}, now, {&decisions[i], 1});
      model.peek({&look, 1}, now, {&expected[i], 1});
      REQUIRE(decisions[i] == expected[i]);
    }
  }
  CHECK(admitted > steps / 10);
  CHECK(divided > steps / 5);
  CHECK(store.memory.holds() == 0);
}

}  // namespace weir::store::test
