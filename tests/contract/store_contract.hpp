// The cases that every store must pass, as a table: name and what to run against an empty store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {

/// A request and its decision.
struct Step {
  Duration at;
  std::int64_t cost;
  bool allowed;
  std::int64_t remaining;
  Duration delay{0};
};

/// The requests of one client, limited by one policy.
struct Sequence {
  const char* name;
  rules::Policy policy;
  std::vector<Step> steps;
};

inline const std::vector<Step> three_refilled_one_by_one = {{0s, 2, true, 1}, {0s, 2, false, 1},
                                                            {1s, 2, true, 0}, {1s, 1, false, 0},
                                                            {4s, 0, true, 3}, {9s, 3, true, 0}};

inline const std::vector<Step> three_in_each_window = {{0s, 2, true, 1},  {0s, 2, false, 1},
                                                       {1s, 2, false, 1}, {1s, 1, true, 0},
                                                       {3s, 3, true, 0},  {5s, 1, false, 0}};

inline std::vector<Sequence> sequences() {
  using rules::Algorithm;
  const auto three_in_three_seconds = [](Algorithm algorithm) { return policy(algorithm, 3, 3s); };
  return {
      {"a token bucket refills", three_in_three_seconds(Algorithm::token_bucket),
       three_refilled_one_by_one},
      {"gcra refills", three_in_three_seconds(Algorithm::gcra), three_refilled_one_by_one},
      {"a leaky bucket queues",
       three_in_three_seconds(Algorithm::leaky_bucket),
       {{0s, 1, true, 2},
        {0s, 1, true, 1, 1s},
        {0s, 1, true, 0, 2s},
        {0s, 1, false, 0},
        {1s, 1, true, 0, 2s},
        {9s, 1, true, 2}}},
      {"fixed windows start again", three_in_three_seconds(Algorithm::fixed_window),
       three_in_each_window},
      {"an attributed window decides as a fixed one",
       three_in_three_seconds(Algorithm::attributed_window), three_in_each_window},
      {"a sliding log forgets after exactly one window",
       three_in_three_seconds(Algorithm::sliding_log),
       {{0s, 2, true, 1},
        {0s, 2, false, 1},
        {1s, 1, true, 0},
        {2'999'999us, 1, false, 0},
        {3s, 3, false, 2},
        {4s, 3, true, 0}}},
      {"a sliding window slides",
       three_in_three_seconds(Algorithm::sliding_window),
       {{0s, 2, true, 1},
        {0s, 2, false, 1},
        {1s, 1, true, 0},
        {2'999'999us, 1, false, 0},
        {7s, 3, true, 0}}},
      {"tiers are decided together",
       policy({.algorithm = Algorithm::sliding_window,
               .rates = {{.count = 2, .per = 1s}, {.count = 3, .per = 10s}}}),
       {{0s, 2, true, 0}, {0s, 1, false, 0}, {3s, 1, true, 0}, {6s, 1, false, 0}}},
  };
}

inline void sequences_are_decided(StoreUnderTest& store) {
  Instant start = epoch;
  std::uint64_t who = 0;
  for (const Sequence& sequence : sequences()) {
    INFO(sequence.name);
    ++who;
    for (const Step& step : sequence.steps) {
      const Answer answer = ask(store, start + step.at, {claim(sequence.policy, who, step.cost)});
      CAPTURE(to_us(step.at), step.cost);
      CHECK(answer.admitted == step.allowed);
      CHECK(answer.decisions[0].allowed == step.allowed);
      CHECK(answer.decisions[0].remaining == step.remaining);
      CHECK(answer.decisions[0].delay == step.delay);
      CHECK(answer.decisions[0].limit == sequence.policy.capacity);
      CHECK(answer.decisions[0].retry_after.has_value() == !step.allowed);
    }
    start += 300s;  // a whole number of the windows: the clock of a store does not step back
  }
}

/// Runs a case with a policy of each of these algorithms, and an identity of its own.
template <class Case>
void with_each_policy(std::span<const rules::Algorithm> of, std::int64_t count, Duration per,
                      Case run) {
  for (const auto algorithm : of) {
    CAPTURE(to_string(algorithm));
    run(policy(algorithm, count, per), static_cast<std::uint64_t>(algorithm));
  }
}

/// The claims of one request see what the others take, all or none of it. `make(limit, who)`: a
/// claim of one unit.
template <class Make>
void claims_see_each_other(StoreUnderTest& store, std::span<const rules::Algorithm> of, Make make) {
  with_each_policy(of, 5, 5s, [&](const rules::Policy& limit, std::uint64_t who) {
    CHECK_FALSE(ask(store, epoch, std::vector<Claim>(6, make(limit, who))).admitted);
    CHECK(ask(store, epoch, {claim(limit, who, 0)}).decisions[0].remaining == 5);
    const Answer fits = ask(store, epoch, std::vector<Claim>(5, make(limit, who)));
    CHECK(fits.admitted);
    for (const auto& decision : fits.decisions)
      CHECK(decision.remaining == 0);
    CHECK_FALSE(ask(store, epoch, {claim(limit, who)}).admitted);
  });
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
  claims_see_each_other(store, algorithms, [](const rules::Policy& limit, std::uint64_t who) {
    return claim(limit, who);
  });
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
  shadow.identity.low = 9;
  CHECK_FALSE(ask(store, epoch, {claim(wide, 1, 2, 1), shadow}).admitted);
  shadow.demand.cost = 0;
  CHECK(ask(store, epoch, {shadow}).decisions[0].remaining == 1);
}

inline void rejected_requests_count_where_asked(StoreUnderTest& store) {
  const auto strict = policy({.algorithm = rules::Algorithm::sliding_log,
                              .rates = {{.count = 2, .per = 10s}},
                              .count_rejected = true});
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
  with_each_policy(algorithms, 5, 5s, [&](const rules::Policy& limit, std::uint64_t who) {
    if (limit.algorithm == rules::Algorithm::leaky_bucket) return;
    Claim forced = claim(limit, who, 7);
    forced.demand.overdraft = true;
    const Answer answer = ask(store, epoch, {forced});
    CHECK(answer.admitted);
    CHECK(answer.decisions[0].remaining == 0);
    forced.demand.overdraft = false;
    forced.demand.cost = 1;
    CHECK_FALSE(ask(store, epoch, {forced}).admitted);
  });
}

inline void cost_zero_only_looks(StoreUnderTest& store) {
  with_each_policy(algorithms, 2, 2s, [&](const rules::Policy& limit, std::uint64_t who) {
    for (int i = 0; i < 5; ++i) {
      const Answer look = ask(store, epoch, {claim(limit, who, 0)});
      CHECK(look.admitted);
      CHECK(look.decisions[0].remaining == 2);
      CHECK(look.decisions[0].reset_after == Duration{0});
    }
  });
}

inline void cost_above_capacity_never_passes(StoreUnderTest& store) {
  with_each_policy(algorithms, 2, 2s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Answer answer = ask(store, epoch, {claim(limit, who, 3)});
    CHECK_FALSE(answer.admitted);
    CHECK_FALSE(answer.decisions[0].retry_after.has_value());
    CHECK(answer.decisions[0].remaining == 2);
  });
}

inline void clock_stepping_back_changes_nothing(StoreUnderTest& store) {
  Instant at = epoch;
  with_each_policy(algorithms, 2, 2s, [&](const rules::Policy& limit, std::uint64_t who) {
    at += 100s;
    CHECK(ask(store, at, {claim(limit, who)}).admitted);
    const Answer back = ask(store, at - 50s, {claim(limit, who)});
    CHECK(back.admitted);
    CHECK(back.decisions[0].reset_after <= Duration{3s});
    CHECK_FALSE(ask(store, at - 50s, {claim(limit, who)}).admitted);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    CHECK(ask(store, at + 5s, {claim(limit, who)}).admitted);
  });
}

inline void forgotten_keys_are_fresh(StoreUnderTest& store) {
  with_each_policy(algorithms, 2, 2s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Claim both = claim(limit, who, 2);
    CHECK(ask(store, epoch, {both}).admitted);
    CHECK_FALSE(ask(store, epoch, {both}).admitted);
    store.forget({.identity = both.identity, .policy_id = both.policy_id + 1});
    CHECK_FALSE(ask(store, epoch, {both}).admitted);
    store.forget({.identity = both.identity, .policy_id = both.policy_id});
    CHECK(ask(store, epoch, {both}).admitted);
    // Forgetting an unknown key has no effect.
    store.forget({.identity = {.low = 1, .high = 1}});
  });
}

inline void a_raised_rate_is_soon_whole(StoreUnderTest& store) {
  Instant at = epoch;
  with_each_policy(algorithms, 100, 24h, [&](const rules::Policy& before, std::uint64_t who) {
    const auto raised = policy(before.algorithm, 1'000, 1s);
    // The oldest tenth of a sliding window leaves it as a whole.
    const Duration longest =
        before.algorithm == rules::Algorithm::sliding_window ? 1'100ms : 1'000ms;
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
  });
}

inline void a_peek_reads_and_charges_nothing(StoreUnderTest& store) {
  with_each_policy(algorithms, 3, 3s, [&](rules::Policy limit, std::uint64_t who) {
    limit.count_rejected = limit.algorithm == rules::Algorithm::fixed_window;
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
  });
}

inline void entries_show_what_was_charged(StoreUnderTest& store) {
  const auto window = policy(rules::Algorithm::attributed_window, 200, 10s);
  const std::string_view first[] = {"alice", "curl/8.0"};
  const std::string_view second[] = {"bob", ""};
  Claim one = claim(window, 1);
  one.attributes = first;
  CHECK(store.entries(one, epoch).entries.empty());
  REQUIRE(ask(store, epoch + 1s, {one}).admitted);
  one.attributes = second;
  one.demand.cost = 3;
  REQUIRE(ask(store, epoch + 2s, {one}).admitted);
  const EntryReport two = store.entries(one, epoch + 2s);
  CHECK(two.error == Error::none);
  CHECK(two.is_complete);
  const std::vector<rules::AttributedEntry> expected{
      {.at = epoch + 1s, .units = 1, .attributes = {"alice", "curl/8.0"}},
      {.at = epoch + 2s, .units = 3, .attributes = {"bob", ""}}};
  CHECK(two.entries == expected);
  CHECK(store.entries(claim(window, 1, 1, 1), epoch + 2s).entries.empty());  // another policy

  one.demand.cost = 1;
  for (std::size_t i = 0; i < most_entries_shown; ++i)
    REQUIRE(ask(store, epoch + 3s, {one}).admitted);
  const EntryReport newest = store.entries(one, epoch + 3s);
  CHECK_FALSE(newest.is_complete);
  CHECK(newest.entries.size() == most_entries_shown);
  CHECK(newest.entries.front().at == epoch + 3s);
}

struct ContractCase {
  const char* name;
  void (*run)(StoreUnderTest&);
};

inline constexpr ContractCase store_contract[] = {
    {"each algorithm decides its sequence", sequences_are_decided},
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
    {"entries show what was charged", entries_show_what_was_charged},
};

}  // namespace weir::store::test
