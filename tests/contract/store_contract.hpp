// The cases that every store must pass, as a table: name and what to run against an empty store.
#pragma once

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {

struct Step {
  Duration at;
  std::int64_t cost;
  bool allowed;
  std::int64_t remaining;
  Duration delay{0};
};

inline void run_steps(StoreUnderTest& store, const rules::Policy& limit,
                      std::initializer_list<Step> steps) {
  for (const Step& step : steps) {
    const Answer answer = ask(store, epoch + step.at, {claim(limit, 1, step.cost)});
    CAPTURE(to_string(limit.algorithm), to_us(step.at), step.cost);
    CHECK(answer.admitted == step.allowed);
    CHECK(answer.decisions[0].allowed == step.allowed);
    CHECK(answer.decisions[0].remaining == step.remaining);
    CHECK(answer.decisions[0].delay == step.delay);
    CHECK(answer.decisions[0].limit == limit.capacity);
    CHECK(answer.decisions[0].retry_after.has_value() == !step.allowed);
  }
}

inline void buckets_refill(StoreUnderTest& store) {
  const auto bucket = policy(rules::Algorithm::token_bucket, 3, 3s);
  run_steps(store, bucket,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 2, true, 0},
             {1s, 1, false, 0},
             {4s, 0, true, 3},
             {9s, 3, true, 0}});
}

inline void gcra_refills(StoreUnderTest& store) {
  const auto gcra = policy(rules::Algorithm::gcra, 3, 3s);
  run_steps(store, gcra,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 2, true, 0},
             {1s, 1, false, 0},
             {4s, 0, true, 3},
             {9s, 3, true, 0}});
}

inline void leaky_bucket_queues(StoreUnderTest& store) {
  const auto queue = policy(rules::Algorithm::leaky_bucket, 3, 3s);
  run_steps(store, queue,
            {{0s, 1, true, 2},
             {0s, 1, true, 1, 1s},
             {0s, 1, true, 0, 2s},
             {0s, 1, false, 0},
             {1s, 1, true, 0, 2s},
             {9s, 1, true, 2}});
}

inline void windows_start_anew(StoreUnderTest& store) {
  const auto fixed = policy(rules::Algorithm::fixed_window, 3, 3s);
  run_steps(store, fixed,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 2, false, 1},
             {1s, 1, true, 0},
             {3s, 3, true, 0},
             {5s, 1, false, 0}});
}

inline void attributed_window_decides_as_fixed_window(StoreUnderTest& store) {
  const auto attributed = policy(rules::Algorithm::attributed_window, 3, 3s);
  run_steps(store, attributed,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 2, false, 1},
             {1s, 1, true, 0},
             {3s, 3, true, 0},
             {5s, 1, false, 0}});
}

inline void log_forgets_after_exactly_one_window(StoreUnderTest& store) {
  const auto log = policy(rules::Algorithm::sliding_log, 3, 3s);
  run_steps(store, log,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 1, true, 0},
             {2'999'999us, 1, false, 0},
             {3s, 3, false, 2},
             {4s, 3, true, 0}});
}

inline void sliding_window_slides(StoreUnderTest& store) {
  const auto sliding = policy(rules::Algorithm::sliding_window, 3, 3s);
  run_steps(store, sliding,
            {{0s, 2, true, 1},
             {0s, 2, false, 1},
             {1s, 1, true, 0},
             {2'999'999us, 1, false, 0},
             {7s, 3, true, 0}});
}

inline void tiers_are_decided_together(StoreUnderTest& store) {
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::sliding_window;
  definition.rates = {{.count = 2, .per = 1s}, {.count = 3, .per = 10s}};
  const auto tiers = policy(definition);
  run_steps(store, tiers,
            {{0s, 2, true, 0}, {0s, 1, false, 0}, {3s, 1, true, 0}, {6s, 1, false, 0}});
}

inline void all_or_nothing(StoreUnderTest& store) {
  const auto wide = policy(rules::Algorithm::gcra, 10, 10s);
  const auto narrow = policy(rules::Algorithm::sliding_log, 1, 10s);
  const std::vector both{claim(wide, 1, 4, 0), claim(narrow, 1, 1, 1)};
  CHECK(ask(store, epoch, both).admitted);
  const Answer denied = ask(store, epoch, both);
  CHECK_FALSE(denied.admitted);
  CHECK(denied.decisions[0].allowed);
  CHECK(denied.decisions[0].remaining == 6);
  CHECK_FALSE(denied.decisions[1].allowed);
  CHECK(denied.decisions[1].retry_after == Duration{10s});
  // Either of them may deny, and the other may or may not have a state yet.
  CHECK_FALSE(ask(store, epoch, {claim(narrow, 1, 1, 1), claim(wide, 2, 4, 0)}).admitted);
  CHECK(ask(store, epoch, {claim(wide, 2, 0, 0)}).decisions[0].remaining == 10);
}

inline void claims_on_one_key_see_each_other(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 5, 5s);
    const auto who = static_cast<std::uint64_t>(algorithm);
    const std::vector<Claim> too_much(6, claim(limit, who));
    CHECK_FALSE(ask(store, epoch, too_much).admitted);
    CHECK(ask(store, epoch, {claim(limit, who, 0)}).decisions[0].remaining == 5);
    const Answer fits = ask(store, epoch, std::vector<Claim>(5, claim(limit, who)));
    CHECK(fits.admitted);
    for (const auto& decision : fits.decisions)
      CHECK(decision.remaining == 0);
    CHECK_FALSE(ask(store, epoch, {claim(limit, who)}).admitted);
  }
}

inline void keys_are_apart(StoreUnderTest& store) {
  const auto limit = policy(rules::Algorithm::gcra, 1, 1s);
  CHECK(ask(store, epoch, {claim(limit, 1, 1, 0)}).admitted);
  CHECK(ask(store, epoch, {claim(limit, 2, 1, 0)}).admitted);
  CHECK(ask(store, epoch, {claim(limit, 1, 1, 1)}).admitted);
  CHECK_FALSE(ask(store, epoch, {claim(limit, 1, 1, 0)}).admitted);
}

inline void shadow_denies_nothing(StoreUnderTest& store) {
  const auto limit = policy(rules::Algorithm::fixed_window, 1, 1s);
  const auto wide = policy(rules::Algorithm::fixed_window, 3, 1s);
  Claim shadow = claim(limit, 1);
  shadow.shadow = true;
  const std::vector claims{shadow, claim(wide, 1, 1, 1)};
  CHECK(ask(store, epoch, claims).decisions[0].allowed);
  const Answer second = ask(store, epoch, claims);
  CHECK(second.admitted);
  CHECK_FALSE(second.decisions[0].allowed);
  CHECK(second.decisions[1].remaining == 1);
  // A denied request charges no shadow policy either.
  const std::vector denied{claim(wide, 1, 2, 1), [&] {
                             auto c = shadow;
                             c.identity.low = 9;
                             return c;
                           }()};
  CHECK_FALSE(ask(store, epoch, denied).admitted);
  CHECK(ask(store, epoch, {[&] {
              auto c = denied[1];
              c.demand.cost = 0;
              return c;
            }()})
            .decisions[0]
            .remaining == 1);
}

inline void rejected_requests_count_where_asked(StoreUnderTest& store) {
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::sliding_log;
  definition.rates = {{.count = 2, .per = 10s}};
  definition.count_rejected = true;
  const auto strict = policy(definition);
  CHECK(ask(store, epoch, {claim(strict, 1, 2)}).admitted);
  // Denied requests count: they use the quota, and the wait includes them.
  CHECK_FALSE(ask(store, epoch + 4s, {claim(strict, 1, 2)}).admitted);
  const Answer again = ask(store, epoch + 10s, {claim(strict, 1, 2)});
  CHECK_FALSE(again.admitted);
  CHECK(again.decisions[0].retry_after == Duration{10s});
  CHECK(ask(store, epoch + 20s, {claim(strict, 1, 2)}).admitted);
  // A request that another policy denies counts here all the same, and the wait here may be longer.
  const auto other = policy(rules::Algorithm::gcra, 1, 1s);
  CHECK(ask(store, epoch + 30s, {claim(other, 2, 1, 1)}).admitted);
  const Answer elsewhere = ask(store, epoch + 30s, {claim(strict, 2, 2), claim(other, 2, 1, 1)});
  CHECK_FALSE(elsewhere.admitted);
  CHECK(elsewhere.decisions[0].allowed);
  CHECK(elsewhere.decisions[0].remaining == 0);
  CHECK(elsewhere.decisions[0].retry_after == Duration{10s});
  CHECK(elsewhere.decisions[1].retry_after == Duration{1s});
}

inline void overdraft_drains(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    if (algorithm == rules::Algorithm::leaky_bucket) continue;
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 5, 5s);
    Claim forced = claim(limit, static_cast<std::uint64_t>(algorithm), 7);
    forced.demand.overdraft = true;
    const Answer answer = ask(store, epoch, {forced});
    CHECK(answer.admitted);
    CHECK(answer.decisions[0].remaining == 0);
    forced.demand.overdraft = false;
    forced.demand.cost = 1;
    CHECK_FALSE(ask(store, epoch, {forced}).admitted);
  }
}

inline void cost_zero_only_looks(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 2, 2s);
    const auto who = static_cast<std::uint64_t>(algorithm);
    for (int i = 0; i < 5; ++i) {
      const Answer look = ask(store, epoch, {claim(limit, who, 0)});
      CHECK(look.admitted);
      CHECK(look.decisions[0].remaining == 2);
      CHECK(look.decisions[0].reset_after == Duration{0});
    }
  }
}

inline void cost_above_capacity_never_passes(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 2, 2s);
    const Answer answer =
        ask(store, epoch, {claim(limit, static_cast<std::uint64_t>(algorithm), 3)});
    CHECK_FALSE(answer.admitted);
    CHECK_FALSE(answer.decisions[0].retry_after.has_value());
    CHECK(answer.decisions[0].remaining == 2);
  }
}

inline void clock_stepping_back_changes_nothing(StoreUnderTest& store) {
  Instant at = epoch;
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 2, 2s);
    const auto who = static_cast<std::uint64_t>(algorithm);
    at += 100s;
    CHECK(ask(store, at, {claim(limit, who)}).admitted);
    const Answer back = ask(store, at - 50s, {claim(limit, who)});
    CHECK(back.admitted);
    CHECK(back.decisions[0].reset_after <= Duration{3s});
    CHECK_FALSE(ask(store, at - 50s, {claim(limit, who)}).admitted);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    CHECK(ask(store, at + 5s, {claim(limit, who)}).admitted);
  }
}

inline void forgotten_keys_are_fresh(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 2, 2s);
    const Claim both = claim(limit, static_cast<std::uint64_t>(algorithm), 2);
    CHECK(ask(store, epoch, {both}).admitted);
    CHECK_FALSE(ask(store, epoch, {both}).admitted);
    store.forget({.identity = both.identity, .policy_id = both.policy_id + 1});
    CHECK_FALSE(ask(store, epoch, {both}).admitted);
    store.forget({.identity = both.identity, .policy_id = both.policy_id});
    CHECK(ask(store, epoch, {both}).admitted);
    // Forgetting an unknown key has no effect.
    store.forget({.identity = {.low = 1, .high = 1}});
  }
}

inline void a_raised_rate_is_soon_whole(StoreUnderTest& store) {
  Instant at = epoch;
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto before = policy(algorithm, 100, 24h);
    const auto raised = policy(algorithm, 1'000, 1s);
    const auto who = static_cast<std::uint64_t>(algorithm);
    // The oldest tenth of a sliding window leaves it as a whole.
    const Duration longest = algorithm == rules::Algorithm::sliding_window ? 1'100ms : 1'000ms;
    at += 100s;
    CHECK(ask(store, at, {claim(before, who, 100)}).admitted);
    const Answer denied = ask(store, at, {claim(raised, who, 1'000)});
    CHECK_FALSE(denied.admitted);
    CHECK(denied.decisions[0].reset_after <= longest);
    const Duration wait = denied.decisions[0].retry_after.value_or(24h);
    CHECK(wait <= longest);
    // However often it is requested meanwhile, alone or with others.
    CHECK_FALSE(ask(store, at + wait / 2, {claim(raised, who, 1'000)}).admitted);
    const Answer among =
        ask(store, at + wait - 1us, {claim(raised, who + 100, 1, 1), claim(raised, who, 1'000)});
    CHECK_FALSE(among.admitted);
    CHECK(among.decisions[1].retry_after == Duration{1us});
    CHECK(ask(store, at + wait, {claim(raised, who, 1'000)}).admitted);
  }
}

inline void a_peek_reads_and_charges_nothing(StoreUnderTest& store) {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto who = static_cast<std::uint64_t>(algorithm);
    auto limit = policy(algorithm, 3, 3s);
    limit.count_rejected = algorithm == rules::Algorithm::fixed_window;
    const std::vector claims{claim(limit, who, 2), claim(limit, who + 100, 2, 1)};
    const auto peek = [&] {
      std::vector<rules::Decision> decisions(claims.size());
      store.peek(claims, epoch + 1s, decisions);
      return decisions;
    };
    CHECK(ask(store, epoch + 1s, {claims[0]}).admitted);
    const auto first = peek();
    CHECK(first[0].limit == 3);
    CHECK(first[0].remaining == 1);
    CHECK(first[0].reset_after > Duration{0});
    CHECK(first[1].remaining == 3);
    CHECK(first[1].reset_after == Duration{0});
    for (int i = 0; i < 5; ++i)
      CHECK(peek() == first);
    CHECK(ask(store, epoch + 1s, {claim(limit, who, 1)}).admitted);
    CHECK(peek()[0].remaining == 0);
  }
}

struct ContractCase {
  const char* name;
  void (*run)(StoreUnderTest&);
};

inline constexpr ContractCase store_contract[] = {
    {"token buckets refill", buckets_refill},
    {"gcra refills", gcra_refills},
    {"a leaky bucket queues", leaky_bucket_queues},
    {"fixed windows start again", windows_start_anew},
    {"an attributed window decides as a fixed one", attributed_window_decides_as_fixed_window},
    {"a sliding log forgets after exactly one window", log_forgets_after_exactly_one_window},
    {"a sliding window slides", sliding_window_slides},
    {"tiers are decided together", tiers_are_decided_together},
    {"all claims are charged or none", all_or_nothing},
    {"claims on one key see each other", claims_on_one_key_see_each_other},
    {"identities and policies have keys of their own", keys_are_apart},
    {"a shadow policy denies nothing", shadow_denies_nothing},
    {"rejected requests count where asked", rejected_requests_count_where_asked},
    {"overdraft admits and drains", overdraft_drains},
    {"cost 0 only looks", cost_zero_only_looks},
    {"a cost above the capacity never passes", cost_above_capacity_never_passes},
    {"a clock stepping back changes nothing", clock_stepping_back_changes_nothing},
    {"a raised rate is soon whole", a_raised_rate_is_soon_whole},
    {"forgotten keys are fresh", forgotten_keys_are_fresh},
    {"a peek reads and charges nothing", a_peek_reads_and_charges_nothing},
};

}  // namespace weir::store::test
