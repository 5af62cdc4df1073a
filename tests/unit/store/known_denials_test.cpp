// The remembered denials of whole requests, with decisions written by the test.
#include "store/known_denials.hpp"

#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

rules::Decision denial(std::optional<Duration> retry_after) {
  return {.allowed = false,
          .limit = 10,
          .remaining = 0,
          .reset_after = 60s,
          .more_after = retry_after.value_or(60s),
          .retry_after = retry_after};
}

rules::Decision admission(std::int64_t remaining) {
  return {
      .allowed = true, .limit = 10, .remaining = remaining, .reset_after = 60s, .more_after = 2s};
}

struct Fixture {
  /// A claim of client `who` on the policy `policy_id`.
  Claim on(std::uint32_t policy_id, std::uint64_t who = 1, std::int64_t cost = 1) {
    return claim(rule, who, cost, policy_id);
  }
  /// Redis was asked at `asked` and its decisions arrive at `answered`.
  void remember(const std::vector<Claim>& claims, const std::vector<rules::Decision>& decisions,
                Duration asked = 0s, Duration answered = 0s) {
    Request request(claims);
    request.decisions = decisions;
    request.acquisition.decisions = request.decisions;
    request.acquisition.asked_at = epoch + asked;
    known.remember(request.acquisition, epoch + answered);
  }
  std::optional<Result> recall(const std::vector<Claim>& claims, Duration at = 0s) {
    Request request(claims);
    const auto result = known.recall(request.acquisition, epoch + at);
    recalled = request.decisions;
    return result;
  }

  rules::Policy rule = gcra(10);
  ChainCounters counters;
  DenialMemory memory{1, 1};  // four entries
  KnownDenials known{memory, counters};
  std::vector<rules::Decision> recalled;
};

Result denied_by(ClaimSet decided) {
  return {.admitted = false, .decider = Decider::redis, .decided = decided};
}

}  // namespace

TEST_CASE("A denial is recalled until asked_at + retry_after, to the microsecond") {
  Fixture fixture;
  CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
  CHECK(fixture.counters.remembered.value() == 0);
  fixture.remember({fixture.on(0)}, {denial(1s)}, 10ms, 30ms);
  CHECK(fixture.recall({fixture.on(0)}, 30ms) == denied_by(1));
  CHECK(fixture.recalled[0].retry_after == 1s);  // not less than what Redis returned
  CHECK(fixture.recall({fixture.on(0)}, 1'009'999us) == denied_by(1));
  CHECK(fixture.recalled[0].retry_after == 20'001us);
  CHECK(fixture.recall({fixture.on(0)}, 1'010ms) == std::nullopt);
  CHECK(fixture.counters.remembered.value() == 2);
}

TEST_CASE("An answer that arrives after asked_at + retry_after denies nothing") {
  Fixture fixture;
  fixture.remember({fixture.on(0)}, {denial(5ms)}, 0ms, 5ms);
  CHECK(fixture.recall({fixture.on(0)}, 5ms) == std::nullopt);
  fixture.remember({fixture.on(1)}, {denial(1h)}, 0s, 6s);
  CHECK(fixture.recall({fixture.on(1)}, 6s) == std::nullopt);
}

TEST_CASE("A denial without a retry time, or with a long one, holds for 5 s") {
  Fixture fixture;
  fixture.remember({fixture.on(0)}, {denial(std::nullopt)}, 1s, 1s);
  fixture.remember({fixture.on(1)}, {denial(1h)}, 1s, 1s);
  for (const std::uint32_t policy_id : {0U, 1U}) {
    CAPTURE(policy_id);
    CHECK(fixture.recall({fixture.on(policy_id)}, 5'999'999us) == denied_by(1));
    CHECK(fixture.recalled[0].retry_after.has_value() == (policy_id == 1));
    CHECK(fixture.recall({fixture.on(policy_id)}, 6s) == std::nullopt);
  }
}

TEST_CASE("An admission that leaves one unit too few contains the next denial") {
  Fixture fixture;
  struct Row {
    std::int64_t cost, remaining;
    bool is_denied;
  };
  std::uint64_t who = 1;
  for (const Row& row : {Row{1, 1, false}, Row{1, 0, true}, Row{3, 3, false}, Row{3, 2, true},
                         Row{3, 1, false} /* the retry time is unknown */}) {
    CAPTURE(row.cost, row.remaining);
    const auto one = fixture.on(0, ++who, row.cost);
    fixture.remember({one}, {admission(row.remaining)});
    CHECK(fixture.recall({one}).has_value() == row.is_denied);
    if (row.is_denied) CHECK(fixture.recalled[0].retry_after == 2s);
  }
}

TEST_CASE("A result without asked_at is not an answer of Redis to this request") {
  Fixture fixture;
  Request request({fixture.on(0)});
  request.decisions[0] = denial(1s);
  fixture.known.remember(request.acquisition, epoch);
  CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
}

TEST_CASE("The decisions of two policies are recalled together, and either may be forgotten") {
  Fixture fixture;
  const std::vector both{fixture.on(0), fixture.on(1)};
  fixture.remember(both, {admission(4), denial(1s)});
  CHECK(fixture.recall(both, 100ms) == denied_by(3));
  CHECK(fixture.recalled[0].allowed);
  CHECK(fixture.recalled[0].remaining == 4);
  CHECK(fixture.recalled[1].retry_after == 900ms);
  SECTION("each denies or does not by itself") {
    CHECK(fixture.recall({fixture.on(1)}) == denied_by(1));
    CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
    CHECK(fixture.recall({fixture.on(2), fixture.on(1)}) == denied_by(2));
  }
  SECTION("the one that denied is forgotten") {
    fixture.known.forget({.identity = both[1].identity, .policy_id = 1});
    CHECK(fixture.recall(both) == std::nullopt);
  }
  SECTION("the other one is forgotten") {
    fixture.known.forget({.identity = both[0].identity, .policy_id = 0});
    CHECK(fixture.recall(both) == denied_by(2));
  }
  SECTION("the same policy of another client is forgotten") {
    fixture.known.forget({.identity = fixture.on(1, 2).identity, .policy_id = 1});
    CHECK(fixture.recall(both) == denied_by(3));
  }
  SECTION("one has an unknown retry time: nothing is remembered") {
    const std::vector others{fixture.on(0, 2, 3), fixture.on(1, 2)};
    fixture.remember(others, {admission(1), denial(1s)});
    CHECK(fixture.recall(others) == std::nullopt);
  }
}

TEST_CASE("A shadow policy denies nobody, and is recalled beside one that does") {
  Fixture fixture;
  std::vector claims{fixture.on(0), fixture.on(1)};
  claims[0].shadow = true;
  fixture.remember(claims, {denial(1s), admission(4)});
  CHECK(fixture.recall(claims) == std::nullopt);
  fixture.remember(claims, {denial(1s), denial(2s)});
  CHECK(fixture.recall(claims) == denied_by(3));
  CHECK(fixture.recall(claims, 1s) == denied_by(2));
  claims.pop_back();
  CHECK(fixture.recall(claims) == std::nullopt);
}

TEST_CASE("The fifth entry of a set replaces the one that expires first") {
  Fixture fixture;
  for (std::uint32_t policy_id = 0; policy_id < 4; ++policy_id)
    fixture.remember({fixture.on(policy_id)}, {denial(policy_id == 2 ? 1s : 2s)});
  fixture.remember({fixture.on(4)}, {denial(1'500ms)});
  for (std::uint32_t policy_id = 0; policy_id < 5; ++policy_id) {
    CAPTURE(policy_id);
    CHECK(fixture.recall({fixture.on(policy_id)}).has_value() == (policy_id != 2));
  }
}

TEST_CASE("A denial is remembered only if each key alone determines the result") {
  Fixture fixture;
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::fixed_window;
  definition.rates = {{.count = 1, .per = 60s}};
  definition.count_rejected = true;
  const auto counted = policy(definition);
  std::vector claims{fixture.on(0), fixture.on(1)};
  CHECK(may_be_remembered({}));
  CHECK(may_be_remembered(claims));
  SECTION("a policy counts rejected requests") {
    claims[1].policy = &counted;
  }
  SECTION("an overdraft is allowed") {
    claims[0].demand.overdraft = true;
  }
  SECTION("two claims have one key") {
    claims[1].policy_id = 0;
  }
  CHECK_FALSE(may_be_remembered(claims));
  fixture.remember(claims, {denial(1s), denial(1s)});
  CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
  // A denial by one of the keys does not decide such a request either.
  fixture.remember({fixture.on(0)}, {denial(1s)});
  CHECK(fixture.recall(claims) == std::nullopt);
  CHECK(fixture.recall({fixture.on(0)}) == denied_by(1));
}

TEST_CASE("Enough is left if every policy but a shadow one would admit again") {
  Fixture fixture;
  struct Row {
    rules::Decision first, second;
    bool is_second_shadow, leaves_enough;
  };
  for (const Row& row :
       {Row{admission(1), admission(3), false, true}, Row{admission(1), admission(2), false, false},
        Row{admission(1), admission(1), false, false},  // for how long is unknown
        Row{admission(1), admission(2), true, true}, Row{denial(1s), admission(3), false, false}}) {
    Request request({fixture.on(0), fixture.on(1, 1, 3)});
    request.claims[1].shadow = row.is_second_shadow;
    request.decisions = {row.first, row.second};
    request.acquisition.decisions = request.decisions;
    CAPTURE(row.first.remaining, row.second.remaining, row.is_second_shadow);
    CHECK(leaves_enough(request.acquisition) == row.leaves_enough);
  }
  Request overdraft({fixture.on(0)});
  overdraft.decisions[0] = admission(5);
  overdraft.claims[0].demand.overdraft = true;
  CHECK_FALSE(leaves_enough(overdraft.acquisition));
}

}  // namespace weir::store::test
