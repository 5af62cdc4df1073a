// A policy at several rates side by side decides as a memory store for each of them.
#include "replay/rate_ladder.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "catch.hpp"
#include "replay/other_rates.hpp"
#include "seed.hpp"
#include "store/memory_store.hpp"

namespace weir::replay {
namespace {

using rules::Algorithm;
using std::chrono::seconds;

/// One rate, decided by a memory store.
class LadderModel {
 public:
  LadderModel(const rules::Policy& policy, bool is_shadow)
      : policy_(policy), is_shadow_(is_shadow), store_({}) {}

  void decide(const std::vector<LadderClaim>& claims, const LadderEnd& end, Instant now) {
    settle_until(now);
    std::vector<store::Claim> asked;
    for (const LadderClaim& claim : claims) {
      store::Claim& one = asked.emplace_back();
      one.policy = &policy_;
      one.identity = claim.identity;
      one.shadow = is_shadow_;
      one.holds = claim.holds;
      one.demand = claim.demand;
    }
    std::vector<rules::Decision> decisions(asked.size());
    const bool is_admitted = store_.decide(asked, now, decisions);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (!decisions[i].allowed) {
        ++denials.requests;
        denied_.insert(claims[i].identity.low);
      }
      if (!is_admitted || decisions[i].held == 0) continue;
      const std::int64_t held = decisions[i].held;
      const std::int64_t actual =
          claims[i].charge ? limiter::settle(*claims[i].charge, held, end.how).units : 0;
      due_.push_back({.at = std::max(now + decisions[i].delay, end.at),
                      .settlement = {.policy = &policy_,
                                     .key = {.identity = claims[i].identity},
                                     .held = held,
                                     .actual = actual}});
      std::ranges::stable_sort(due_, {}, &Due::at);
    }
    denials.keys = denied_.size();
    settle_until(now);
  }

  RateLadder::Denials denials;

 private:
  struct Due {
    Instant at{};
    store::Settlement settlement{};
  };

  void settle_until(Instant now) {
    while (!due_.empty() && due_.front().at <= now) {
      store_.settle({&due_.front().settlement, 1}, due_.front().at);
      due_.erase(due_.begin());
    }
  }

  rules::Policy policy_;
  bool is_shadow_;
  store::MemoryStore store_;
  std::vector<Due> due_;
  std::set<std::uint64_t> denied_;
};

const limiter::Charge failures{
    .by_status = limiter::ChargeByStatus{.statuses = {{.first = 401, .last = 401}}}};

std::vector<rules::Definition> definitions() {
  const rules::Rate rate{.count = 10, .per = seconds(10)};
  return {
      {.algorithm = Algorithm::gcra, .rates = {rate}},
      {.algorithm = Algorithm::gcra, .rates = {{.count = 7, .per = seconds(3)}}, .burst = 3},
      {.algorithm = Algorithm::token_bucket, .rates = {rate}, .burst = 5},
      {.algorithm = Algorithm::fixed_window, .rates = {rate}, .count_rejected = true},
      {.algorithm = Algorithm::fixed_window, .rates = {rate}, .anchor = rules::Anchor::clock},
      {.algorithm = Algorithm::attributed_window, .rates = {rate}},
      {.algorithm = Algorithm::sliding_window, .rates = {{.count = 4, .per = seconds(2)}, rate}},
      {.algorithm = Algorithm::sliding_log, .rates = {rate}},
      {.algorithm = Algorithm::sliding_log, .rates = {rate}, .count_rejected = true},
      {.algorithm = Algorithm::leaky_bucket, .rates = {rate}, .queue = 4}};
}

void check_random_requests(const rules::Definition& definition, std::mt19937_64& random,
                           bool has_holds, bool is_shadow) {
  const auto below = [&](int bound) { return static_cast<std::int64_t>(random() % bound); };
  std::vector<rules::Policy> rates;
  std::vector<std::unique_ptr<LadderModel>> models;
  for (const OtherRate& one : other_rates(definition, true)) {
    if (rates.size() == 12) break;
    rates.push_back(one.numbers);
    models.push_back(std::make_unique<LadderModel>(one.numbers, is_shadow));
  }
  const auto ladder = RateLadder::make(rates, {.is_shadow = is_shadow, .has_holds = has_holds});
  Instant now{seconds(1'000'000'000)};
  for (int i = 0; i < history_length(3'000); ++i) {
    // Bursts, and pauses in which keys become whole and are dropped.
    now += Duration{below(100) == 0 ? below(20'000'000) : below(3) * below(300'000)};
    std::vector<LadderClaim> claims;
    const auto count = below(4) == 0 ? 1 + below(3) : 1;
    for (std::int64_t claim = 0; claim < count; ++claim)
      claims.push_back(
          {.identity = {.low = static_cast<std::uint64_t>(1 + below(5)), .high = 0},
           .demand = {.cost = below(10) == 0 ? below(7) : 1, .overdraft = below(20) == 0},
           .holds = has_holds && below(2) == 0,
           .charge = below(3) == 0 ? nullptr : &failures});
    const LadderEnd end{.at = now + Duration{below(3) * below(2'000'000)},
                        .how = {.status = below(2) == 0 ? 401 : 200}};
    ladder->decide(claims, end, now);
    for (const auto& model : models)
      model->decide(claims, end, now);
  }
  CHECK(ladder->keys() == 5);
  for (std::size_t rate = 0; rate < models.size(); ++rate) {
    CAPTURE(rate, rates[rate].rates[0].count);
    CHECK(ladder->denials(rate) == models[rate]->denials);
  }
}

}  // namespace

TEST_CASE("each rate of a ladder decides as the memory store") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  for (const rules::Definition& definition : definitions()) {
    CAPTURE(rules::to_string(definition.algorithm), definition.count_rejected);
    for (const bool has_holds : {false, true}) {
      for (const bool is_shadow : {false, true}) {
        CAPTURE(has_holds, is_shadow);
        check_random_requests(definition, random, has_holds, is_shadow);
      }
    }
  }
}

TEST_CASE("a ladder counts the requests and the keys that a rate denies") {
  std::vector<rules::Policy> rates;
  for (const OtherRate& one : other_rates({.rates = {{.count = 2, .per = seconds(10)}}}, false))
    rates.push_back(one.numbers);
  const auto ladder = RateLadder::make(rates, {});
  for (int i = 0; i < 3; ++i)
    ladder->decide(std::vector<LadderClaim>{{.identity = {.low = 1, .high = 0}}}, {},
                   Instant{seconds(100)});
  ladder->decide(std::vector<LadderClaim>{{.identity = {.low = 2, .high = 0}}}, {},
                 Instant{seconds(100)});
  CHECK((ladder->requests() == 4 && ladder->keys() == 2));
  CHECK(ladder->denials(0) == RateLadder::Denials{.requests = 2, .keys = 1});
  CHECK(ladder->denials(1) == RateLadder::Denials{.requests = 1, .keys = 1});
  CHECK(ladder->denials(2) == RateLadder::Denials{});
}

}  // namespace weir::replay
