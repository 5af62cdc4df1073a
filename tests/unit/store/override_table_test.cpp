#include "store/override_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "seed.hpp"

namespace weir::store::test {
namespace {

using Kind = Override::Kind;
using rules::OverrideEffect;
using Outcome = OverrideReport::Outcome;

const rules::Policy table_policy = policy(rules::Algorithm::gcra, 2, 2s);

/// For the policy of that ID, "p1" for 1, or 0 for all policies.
Override entry_of(std::uint32_t policy_id, Kind kind, std::optional<Instant> until = {}) {
  Override entry{.kind = kind, .until = until};
  if (policy_id == 0) return entry;
  entry.policy = "p" + std::to_string(policy_id);
  entry.policy_id = policy_id;
  entry.numbers = policy(rules::Algorithm::gcra, 9, 2s);
  return entry;
}

Claim claim_of(std::uint64_t who, std::uint32_t policy_id) {
  Claim made = claim(table_policy, who, 1, policy_id);
  made.identity = {.low = who};
  return made;
}

struct Calls {
  OverrideReport put(std::uint64_t who, const Override& entry, Instant now) {
    OverrideReport report{.outcome = Outcome::failed};
    table.put({.low = who}, entry, now, [&](OverrideReport its) { report = std::move(its); });
    return report;
  }
  OverrideReport remove(std::uint64_t who, const std::string& policy, Instant now) {
    OverrideReport report{.outcome = Outcome::failed};
    table.remove({.low = who}, policy, now, [&](OverrideReport its) { report = std::move(its); });
    return report;
  }
  std::vector<ListedOverride> list(std::optional<std::uint64_t> who, Instant now) {
    OverrideReport report{.outcome = Outcome::failed};
    std::optional<Hash128> identity;
    if (who) identity = Hash128{.low = *who};
    table.list(identity, now, {}, [&](OverrideReport its) { report = std::move(its); });
    CHECK(report.outcome == Outcome::done);
    return report.overrides;
  }
  OverrideInForce in_force(std::uint64_t who, std::uint32_t policy_id, Instant now) const {
    return OverrideTable::Reading(table, now).in_force(claim_of(who, policy_id), now);
  }
  bool has_any(Instant now = epoch) const { return OverrideTable::Reading(table, now).has_any(); }

  OverrideTable table;
};

}  // namespace

TEST_CASE("An override counts for its identity and its policy until it ends") {
  Calls calls;
  CHECK_FALSE(calls.has_any());
  CHECK(calls.put(1, entry_of(1, Kind::numbers, epoch + 5s), epoch).outcome == Outcome::done);
  CHECK(calls.has_any());
  const OverrideInForce found = calls.in_force(1, 1, epoch + 1s);
  CHECK(found.effect == OverrideEffect::numbers);
  CHECK(found.ends_after == 4s);
  CHECK(calls.in_force(1, 2, epoch).effect == OverrideEffect::none);
  CHECK(calls.in_force(2, 1, epoch).effect == OverrideEffect::none);
  CHECK(calls.in_force(1, 1, epoch + 5s - 1us).effect == OverrideEffect::numbers);
  CHECK(calls.in_force(1, 1, epoch + 5s).effect == OverrideEffect::none);
  // The whole hash identifies a client.
  Claim other = claim_of(1, 1);
  other.identity.high = 1;
  CHECK(OverrideTable::Reading(calls.table, epoch).in_force(other, epoch).effect ==
        OverrideEffect::none);
}

TEST_CASE("An override ends by the wall clock, also after that was set") {
  Calls calls;
  calls.put(1, entry_of(0, Kind::denied, epoch + 5s), epoch);
  calls.table.set_wall_clock_offset(3s);
  CHECK(calls.in_force(1, 1, epoch + 1s).ends_after == 1s);
  CHECK(calls.in_force(1, 1, epoch + 2s).effect == OverrideEffect::none);
  calls.table.set_wall_clock_offset(-3s);
  CHECK(calls.in_force(1, 1, epoch + 8s - 1us).effect == OverrideEffect::denied);
  CHECK(calls.in_force(1, 1, epoch + 8s).effect == OverrideEffect::none);
}

TEST_CASE("The entry of the same policy is replaced, and the 17th other one refused") {
  Calls calls;
  for (std::uint32_t id = 1; id <= overrides_per_identity; ++id)
    REQUIRE(calls.put(1, entry_of(id, Kind::numbers), epoch).outcome == Outcome::done);
  CHECK(calls.put(1, entry_of(0, Kind::denied), epoch).outcome == Outcome::full);
  CHECK(calls.in_force(1, 1, epoch).effect == OverrideEffect::numbers);
  CHECK(calls.put(1, entry_of(16, Kind::unlimited, epoch + 1s), epoch).outcome == Outcome::done);
  CHECK(calls.in_force(1, 16, epoch).effect == OverrideEffect::unlimited);
  CHECK(calls.list(1, epoch).size() == overrides_per_identity);
  CHECK(calls.put(2, entry_of(0, Kind::denied), epoch).outcome == Outcome::done);
  // One that has ended leaves room.
  CHECK(calls.put(1, entry_of(0, Kind::denied), epoch + 1s).outcome == Outcome::done);
}

TEST_CASE("remove() takes one entry, and reports absent if there is none") {
  Calls calls;
  calls.put(1, entry_of(0, Kind::unlimited), epoch);
  calls.put(1, entry_of(1, Kind::denied, epoch + 1s), epoch);
  CHECK(calls.remove(1, "p2", epoch).outcome == Outcome::absent);
  CHECK(calls.remove(2, "", epoch).outcome == Outcome::absent);
  CHECK(calls.remove(1, "p1", epoch).outcome == Outcome::done);
  CHECK(calls.in_force(1, 1, epoch).effect == OverrideEffect::unlimited);
  calls.put(1, entry_of(1, Kind::denied, epoch + 1s), epoch);
  CHECK(calls.remove(1, "p1", epoch + 1s).outcome == Outcome::absent);
  CHECK(calls.has_any());
  CHECK(calls.remove(1, "", epoch).outcome == Outcome::done);
  CHECK_FALSE(calls.has_any());
}

TEST_CASE("The table is bounded, and entries that have ended leave it") {
  Calls calls;
  for (std::uint64_t who = 1; who <= OverrideTable::most_identities; ++who)
    REQUIRE(calls.put(who, entry_of(0, Kind::denied, epoch + 5s), epoch).outcome == Outcome::done);
  CHECK(calls.put(1'000'000, entry_of(0, Kind::denied), epoch).outcome == Outcome::no_room);
  CHECK(calls.put(1, entry_of(0, Kind::unlimited, epoch + 5s), epoch).outcome == Outcome::done);
  CHECK(calls.put(1, entry_of(1, Kind::unlimited, epoch + 5s), epoch).outcome == Outcome::done);
  CHECK(calls.put(1'000'000, entry_of(0, Kind::denied), epoch + 5s).outcome == Outcome::done);
  CHECK(calls.list({}, epoch + 5s).size() == 1);
  calls.remove(1'000'000, "", epoch + 5s);
  CHECK_FALSE(calls.has_any(epoch + 5s));
}

TEST_CASE("Identities whose overrides have all ended are removed in bounded steps") {
  Calls calls;
  constexpr std::size_t ending = 2 * OverrideTable::most_removed + 1;
  for (std::uint64_t who = 1; who <= ending; ++who)
    calls.put(who, entry_of(0, Kind::denied, epoch + 5s), epoch);
  calls.put(1'000, entry_of(0, Kind::denied, epoch + 5s), epoch);
  calls.put(1'000, entry_of(1, Kind::denied), epoch);
  calls.put(1'001, entry_of(0, Kind::denied, epoch + 5s), epoch);
  calls.put(1'001, entry_of(0, Kind::denied, epoch + 6s), epoch);
  // At the first instant, so that it lists what is there.
  const auto size = [&] { return calls.list({}, epoch).size(); };
  const std::size_t staying = 3;
  calls.table.remove_ended(epoch + 5s - 1us);
  CHECK(size() == ending + staying);
  for (const std::size_t left : {OverrideTable::most_removed + 1, std::size_t{1}, std::size_t{0}}) {
    calls.table.remove_ended(epoch + 5s);
    CHECK(size() == left + staying);
  }
  calls.table.remove_ended(epoch + 5s);
  CHECK(size() == staying);
  CHECK(calls.in_force(1'000, 1, epoch + 5s).effect == OverrideEffect::denied);
  CHECK(calls.in_force(1'001, 1, epoch + 5s).effect == OverrideEffect::denied);
}

TEST_CASE("A reading takes the lock only until the last override has ended") {
  Calls calls;
  CHECK_FALSE(calls.has_any());
  calls.put(1, entry_of(0, Kind::denied, epoch + 5s), epoch);
  calls.put(1, entry_of(1, Kind::denied, epoch + 3s), epoch);
  calls.put(2, entry_of(0, Kind::denied, epoch + 4s), epoch);
  CHECK(calls.has_any(epoch + 5s - 1us));
  CHECK_FALSE(calls.has_any(epoch + 5s));
  calls.table.set_wall_clock_offset(1s);
  CHECK(calls.has_any(epoch + 4s - 1us));
  CHECK_FALSE(calls.has_any(epoch + 4s));
  calls.table.set_wall_clock_offset(0s);
  calls.remove(1, "", epoch);
  CHECK_FALSE(calls.has_any(epoch + 4s));
  calls.put(2, entry_of(0, Kind::denied, epoch + 9s), epoch);
  CHECK(calls.has_any(epoch + 9s - 1us));
  calls.put(3, entry_of(0, Kind::denied), epoch);
  CHECK(calls.has_any(epoch + 9s));
  calls.table.remove_ended(epoch + 9s);
  calls.remove(3, "", epoch + 9s);
  CHECK_FALSE(calls.has_any());
}

TEST_CASE("A table agrees with a map, whatever the history") {
  const TestSeed seed;
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  Calls calls;
  std::map<std::pair<std::uint64_t, std::string>, Override> model;
  Instant now = epoch;
  for (int step = 0; step < history_length(5'000); ++step) {
    now += Duration{below(3)};
    std::erase_if(model,
                  [&](const auto& one) { return one.second.until && *one.second.until <= now; });
    const std::uint64_t who = below(4);
    const auto kind = std::array{Kind::numbers, Kind::unlimited, Kind::denied}[below(3)];
    const std::uint32_t id = kind == Kind::numbers ? 1 + below(20) : below(20);
    auto entry = entry_of(id, kind);
    entry.details = std::to_string(step);
    if (below(2) == 0) entry.until = now + Duration{1 + below(40)};
    const auto place = std::pair(who, entry.policy);
    if (below(3) == 0) {
      const bool is_there = model.erase(place) > 0;
      REQUIRE(calls.remove(who, entry.policy, now).outcome ==
              (is_there ? Outcome::done : Outcome::absent));
    } else {
      const auto owned =
          std::ranges::count_if(model, [&](const auto& one) { return one.first.first == who; });
      const bool fits = model.contains(place) || owned < std::ptrdiff_t{overrides_per_identity};
      if (fits) model[place] = entry;
      REQUIRE(calls.put(who, entry, now).outcome == (fits ? Outcome::done : Outcome::full));
    }
    std::vector<Override> of_one;
    for (const auto& [its_place, its_entry] : model) {
      if (its_place.first == who) of_one.push_back(its_entry);
    }
    const std::uint32_t asked = 1 + below(20);
    const auto expected = in_force(of_one, asked, table_policy, now);
    const auto found = calls.in_force(who, asked, now);
    REQUIRE(found.effect == expected.effect);
    REQUIRE(found.ends_after == expected.ends_after);
    REQUIRE(calls.list(who, now).size() == of_one.size());
    const auto all = calls.list({}, now);
    REQUIRE(all.size() == model.size());
    for (const auto& one : all)
      REQUIRE(model.at({one.identity.low, one.policy}).details == one.details);
  }
}

TEST_CASE("The numbers of a reading stay valid while the override changes") {
  Calls calls;
  calls.put(1, entry_of(1, Kind::numbers), epoch);
  std::jthread writer([&calls](const std::stop_token& stop) {
    for (std::uint64_t i = 0; !stop.stop_requested(); ++i) {
      calls.put(1, entry_of(1, Kind::numbers), epoch);
      calls.put(2 + i % 100, entry_of(0, Kind::denied), epoch);
      calls.remove(2 + i % 100, "", epoch);
    }
  });
  const rules::Policy expected = entry_of(1, Kind::numbers).numbers;
  for (int i = 0; i < 1'000; ++i) {
    const OverrideTable::Reading reading(calls.table, epoch);
    REQUIRE(reading.has_any());
    const auto found = reading.in_force(claim_of(1, 1), epoch);
    REQUIRE(found.effect == OverrideEffect::numbers);
    REQUIRE(*found.numbers == expected);
  }
}

}  // namespace weir::store::test
