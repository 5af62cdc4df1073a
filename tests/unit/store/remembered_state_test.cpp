// The remembered state of a key against a model of the store that decides each request.
#include "store/remembered_state.hpp"

#include <random>

#include "catch.hpp"
#include "contract/store_model.hpp"
#include "seed.hpp"

namespace weir::store::test {
namespace {

using rules::Algorithm;
using rules::Decision;

std::vector<rules::Policy> varied_policies() {
  std::vector<rules::Policy> policies;
  for (const Algorithm algorithm : algorithms) {
    policies.push_back(policy(algorithm, 7, 3s));
    policies.push_back(policy(algorithm, 3, 700ms));
    policies.push_back(policy(algorithm, 1, 1s));
    policies.push_back(policy(algorithm, 11, 60s));
  }
  rules::Definition tiers;
  tiers.algorithm = Algorithm::sliding_window;
  tiers.rates = {{.count = 3, .per = 1s}, {.count = 20, .per = 30s}, {.count = 100, .per = 300s}};
  policies.push_back(policy(tiers));
  rules::Definition leaky;
  leaky.algorithm = Algorithm::leaky_bucket;
  leaky.rates = {{.count = 7, .per = 3s}};
  leaky.queue = 5;
  leaky.max_delay = 1'000'001us;  // ends in the middle of an interval
  policies.push_back(policy(leaky));
  for (const Algorithm algorithm : {Algorithm::gcra, Algorithm::token_bucket}) {
    rules::Definition burst;
    burst.algorithm = algorithm;
    burst.rates = {{.count = 7, .per = 3s}};
    burst.burst = 12;
    policies.push_back(policy(burst));
    burst.rates = {{.count = 7'000'003, .per = 100'000s}};
    policies.push_back(policy(burst));
  }
  return policies;
}

bool is_computed(const rules::Policy& policy) {
  return policy.algorithm == Algorithm::gcra || policy.algorithm == Algorithm::token_bucket ||
         policy.algorithm == Algorithm::leaky_bucket;
}

/// One key in a store whose clock is another, and that executes a question some time after it is
/// sent. All requests come from here.
class History {
 public:
  History(const rules::Policy& policy, std::uint64_t seed, std::uint64_t longest_transit_us)
      : policy_(policy), random_(seed), longest_transit_us_(longest_transit_us) {}

  void step() {
    now_ += below(random_() % 50 == 0 ? 3'000'000 : 40'000);
    auto one = claim(policy_, 1, static_cast<std::int64_t>(random_() % 14) - 1);
    if (random_() % 2 == 0) one.demand.cost = 1;
    if (one.demand.cost < 0) {
      one.demand = {.cost = policy_.capacity, .overdraft = true};
      return ask_store(one);
    }
    if (known_ && remembered_.decide(one, now_)) compare(one, *remembered_.decide(one, now_));
    // A denial need not be asked, but another instance may do so.
    if (random_() % 4 == 0 || !known_ || !remembered_.decide(one, now_)) ask_store(one);
  }
  int denials = 0;
  int exact = 0;

 private:
  Duration below(std::uint64_t bound) {
    return Duration{static_cast<std::int64_t>(random_() % bound)};
  }
  Decision truth(const Claim& one, Instant at) const {
    auto same_store = store_;
    return ask(same_store, at + skew_, {one}).decisions[0];
  }
  void ask_store(const Claim& one) {
    const Instant sent_at = now_;
    const Instant executed_at = sent_at + below(longest_transit_us_);
    now_ = executed_at + below(longest_transit_us_);
    const auto answer = ask(store_, executed_at + skew_, {one});
    transit_ = now_ - sent_at;
    remembered_.update(one, answer.decisions[0], {.sent_at = sent_at, .answered_at = now_},
                       answer.admitted && one.demand.cost > 0);
    known_ = true;
  }
  void compare(const Claim& one, const Decision& shown) {
    CAPTURE(one.demand.cost, to_us(now_));
    Claim look = one;
    look.demand.cost = 0;
    const Decision left = truth(look, now_);  // nothing is charged by a denied request
    REQUIRE(shown.limit == left.limit);
    REQUIRE(shown.remaining <= left.remaining);
    REQUIRE(shown.reset_after + 1us >= left.reset_after);
    const bool is_exact = is_computed(policy_) && transit_ == 0us;
    if (is_exact) {
      REQUIRE(left.reset_after + 1us >= shown.reset_after);
      // The state may be a microsecond behind.
      REQUIRE((shown.remaining == left.remaining ||
               shown.remaining >= truth(look, now_ - 1us).remaining));
    }
    const Decision decided = truth(one, now_);
    REQUIRE(shown.allowed == decided.allowed);
    if (shown.allowed) return;
    ++denials;
    REQUIRE(shown.retry_after.has_value() == decided.retry_after.has_value());
    if (!shown.retry_after) return;
    const Duration late = *shown.retry_after - *decided.retry_after;
    REQUIRE(late >= 0us);
    if (is_computed(policy_)) REQUIRE(late <= transit_ + 1us);
    if (late <= transit_ + 1us) ++exact;
  }

  const rules::Policy& policy_;
  std::mt19937_64 random_;
  std::uint64_t longest_transit_us_;
  StoreModel store_;
  const Duration skew_ = 1'234'567us;
  Instant now_ = epoch;
  RememberedState remembered_;
  Duration transit_{0};
  bool known_ = false;
};

}  // namespace

TEST_CASE("A remembered state never promises more than the store would decide") {
  const auto policies = varied_policies();
  for (const std::uint64_t transit_us : {1, 5'000}) {
    for (std::size_t i = 0; i < policies.size(); ++i) {
      CAPTURE(to_string(policies[i].algorithm), i, transit_us);
      History history(policies[i], i + 1, transit_us);
      for (int step = 0; step < history_length(4'000); ++step)
        history.step();
      CHECK(history.denials > 20);
      CHECK(history.exact > 0);
    }
  }
}

TEST_CASE("The state after cheaper requests and an overdraft is that of the latest reply") {
  const auto limit = policy(Algorithm::gcra, 3, 3'600s);
  StoreModel store;
  RememberedState remembered;
  const auto serve = [&](const Claim& one, Duration after) {
    const auto answer = ask(store, epoch + after, {one});
    remembered.update(one, answer.decisions[0],
                      {.sent_at = epoch + after, .answered_at = epoch + after}, answer.admitted);
  };
  serve(claim(limit, 1, 2), 0s);
  const auto two = claim(limit, 1, 2);
  REQUIRE(remembered.decide(two, epoch).has_value());
  CHECK(remembered.decide(two, epoch)->remaining == 1);
  CHECK(remembered.decide(two, epoch)->retry_after == 1'200s);
  serve(claim(limit, 1, 1), 1s);
  CHECK(remembered.decide(two, epoch + 1s)->remaining == 0);
  CHECK(remembered.decide(two, epoch + 1s)->retry_after == 2'399s);
  CHECK(remembered.decide(claim(limit, 1, 1), epoch + 1s)->retry_after == 1'199s);
  auto overdraft = claim(limit, 1, 3);
  overdraft.demand.overdraft = true;
  serve(overdraft, 1'201s);
  CHECK(remembered.decide(two, epoch + 1'201s)->remaining == 0);
  CHECK(remembered.decide(two, epoch + 2'401s)->remaining == 1);
  CHECK(remembered.decide(claim(limit, 1, 4), epoch + 2'401s)->remaining == 1);
  CHECK_FALSE(remembered.decide(claim(limit, 1, 4), epoch + 2'401s)->retry_after.has_value());
}

TEST_CASE("A denial ends when its cost fits, and never if the cost is above the capacity") {
  for (const Algorithm algorithm : {Algorithm::gcra, Algorithm::token_bucket}) {
    for (const std::int64_t used : {1, 2}) {
      CAPTURE(to_string(algorithm), used);
      const auto limit = policy(algorithm, 3, 3'600s);
      const auto first = claim(limit, 1, used);
      StoreModel store;
      RememberedState remembered;
      remembered.update(first, ask(store, epoch, {first}).decisions[0],
                        {.sent_at = epoch, .answered_at = epoch}, true);
      CHECK_FALSE(remembered.denied_until(claim(limit, 1, 3 - used)).has_value());
      CHECK(remembered.denied_until(claim(limit, 1, 3)) == epoch + 1'200s * used);
      CHECK(remembered.denied_until(claim(limit, 1, 4)) == Instant::max());
    }
  }
}

TEST_CASE("An override decides for as long as it lasts") {
  const auto limit = policy(Algorithm::gcra, 3, 3'600s);
  const auto one = claim(limit, 1);
  Decision decision{.allowed = false, .limit = 3, .ends_after = 10s};
  RememberedState remembered;
  SECTION("a denial") {
    decision.override_effect = rules::OverrideEffect::denied;
  }
  SECTION("no limit") {
    decision.override_effect = rules::OverrideEffect::unlimited;
    decision.allowed = true;
    decision.remaining = 3;
  }
  SECTION("other numbers: the policy's own do not compute its state") {
    decision.override_effect = rules::OverrideEffect::numbers;
    decision.limit = 100;
    decision.refill = 60s;
    decision.remaining = 0;
    decision.reset_after = 60s;
    decision.more_after = decision.retry_after.emplace(600ms);
  }
  remembered.update(one, decision, {.sent_at = epoch, .answered_at = epoch}, false);
  const auto known = remembered.decide(one, epoch + 500ms);
  REQUIRE(known.has_value());
  CHECK(known->allowed == decision.allowed);
  CHECK(known->limit == decision.limit);
  CHECK(known->remaining == decision.remaining);
  CHECK(known->refill == decision.refill);
  CHECK(known->override_effect == decision.override_effect);
  CHECK(known->retry_after.has_value() == decision.retry_after.has_value());
  CHECK(remembered.denied_until(one).has_value() != decision.allowed);
  CHECK_FALSE(remembered.decide(one, epoch + 10s).has_value());
}

TEST_CASE("An exempt client is allowed, whatever the cost") {
  const auto limit = policy(Algorithm::gcra, 3, 3'600s);
  auto one = claim(limit, 1, 5);
  one.is_exempt = true;
  RememberedState remembered;
  remembered.update(one, {.allowed = true, .limit = 3, .remaining = 3},
                    {.sent_at = epoch, .answered_at = epoch}, true);
  CHECK(remembered.decide(one, epoch + 1s)->allowed);
  CHECK_FALSE(remembered.denied_until(one).has_value());
}

TEST_CASE("A reply that the rules cannot explain is shown as it is") {
  const auto limit = policy(Algorithm::gcra, 10, 3'600s);
  const Decision odd{.allowed = false,
                     .limit = 10,
                     .remaining = 2,
                     .reset_after = 4s,
                     .more_after = 300ms,
                     .retry_after = 1s};
  RememberedState remembered;
  remembered.update(claim(limit, 1, 5), odd, {.sent_at = epoch, .answered_at = epoch}, false);
  const auto shown = remembered.decide(claim(limit, 1, 5), epoch);
  REQUIRE(shown.has_value());
  CHECK(shown->remaining == 2);
  CHECK(shown->retry_after == 1s);
  CHECK(remembered.denied_until(claim(limit, 1, 5)) == epoch + 1s);
}

}  // namespace weir::store::test
