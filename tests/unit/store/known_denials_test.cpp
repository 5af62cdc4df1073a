// The remembered denials of whole requests, with decisions written by the test.
#include "store/known_denials.hpp"

#include "catch.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

rules::Decision denial(std::optional<Duration> retry_after) {
  return {.allowed = false,
          .limit = 10,
          .remaining = 0,
          .reset_after = 1h,
          .more_after = retry_after.value_or(60s),
          .retry_after = retry_after};
}

rules::Decision admission(std::int64_t remaining, Duration more_after = 2s) {
  return {.allowed = true,
          .limit = 10,
          .remaining = remaining,
          .reset_after = 60s,
          .more_after = more_after};
}

struct KnownDenialsFixture {
  /// A claim of client `who` on the policy `policy_id`.
  Claim on(std::uint32_t policy_id, std::uint64_t who = 1, std::int64_t cost = 1) {
    return claim(window, who, cost, policy_id);
  }
  /// Redis was asked at `asked` and its decisions arrive at `answered`.
  void remember(const std::vector<Claim>& claims, const std::vector<rules::Decision>& decisions,
                Duration asked = 0s, Duration answered = 0s, bool admitted = false) {
    Request request(claims);
    request.decisions = decisions;
    request.acquisition.decisions = request.decisions;
    request.acquisition.asked_at = epoch + asked;
    known.remember(request.acquisition, admitted, epoch + answered);
  }
  std::optional<Result> recall(const std::vector<Claim>& claims, Duration at = 0s) {
    Request request(claims);
    const auto result = known.recall(request.acquisition, epoch + at);
    recalled = request.decisions;
    return result;
  }

  rules::Policy window = policy(rules::Algorithm::sliding_window, 10, 3'600s);
  ChainCounters counters;
  DenialMemory memory{1, 1};  // four entries
  KnownDenials known{memory, counters};
  std::vector<rules::Decision> recalled;
};

Result denied_by(ClaimSet decided) {
  return {.admitted = false, .decider = Decider::redis, .decided = decided};
}

rules::Policy counting_rejected() {
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::fixed_window;
  definition.rates = {{.count = 1, .per = 60s}};
  definition.count_rejected = true;
  return policy(definition);
}

}  // namespace

TEST_CASE("A denial that holds affect is not remembered, and ends one that was") {
  KnownDenialsFixture fixture;
  rules::Decision by_holds = denial(60s);
  by_holds.by_holds = true;
  fixture.remember({fixture.on(0)}, {by_holds});
  CHECK(fixture.recall({fixture.on(0)}, 1s) == std::nullopt);
  fixture.remember({fixture.on(0)}, {denial(60s)}, 2s, 2s);
  CHECK(fixture.recall({fixture.on(0)}, 3s) == denied_by(1));
  fixture.remember({fixture.on(0)}, {by_holds}, 4s, 4s);
  CHECK(fixture.recall({fixture.on(0)}, 4s) == std::nullopt);
}

TEST_CASE("A claim that would hold is remembered only if it is denied by use alone") {
  KnownDenialsFixture fixture;
  Claim holding = fixture.on(0);
  holding.holds = true;
  fixture.remember({holding}, {denial(60s)});
  CHECK(fixture.recall({holding}, 1s) == denied_by(1));
  // If another limit denies, the remaining units may soon be held.
  fixture.remember({holding, fixture.on(1)}, {admission(3), denial(60s)}, 2s, 2s);
  CHECK(fixture.recall({holding}, 3s) == std::nullopt);
  CHECK(fixture.recall({fixture.on(1)}, 3s) == denied_by(1));
}

TEST_CASE("Claims that hold are not merged") {
  const auto strict = counting_rejected();
  Claim one = claim(strict, 1);
  CHECK(may_be_merged({&one, 1}));
  one.holds = true;
  CHECK_FALSE(may_be_merged({&one, 1}));
}

TEST_CASE("A denial is recalled until asked_at + retry_after, to the microsecond") {
  KnownDenialsFixture fixture;
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
  KnownDenialsFixture fixture;
  fixture.remember({fixture.on(0)}, {denial(5ms)}, 0ms, 5ms);
  CHECK(fixture.recall({fixture.on(0)}, 5ms) == std::nullopt);
  fixture.remember({fixture.on(1)}, {denial(1h)}, 0s, 6s);
  CHECK(fixture.recall({fixture.on(1)}, 6s) == std::nullopt);
}

TEST_CASE("A denial without a retry time, or with a long one, holds for 5 s") {
  KnownDenialsFixture fixture;
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
  KnownDenialsFixture fixture;
  struct Row {
    std::int64_t cost, remaining;
    bool is_denied;
  };
  std::uint64_t who = 1;
  for (const Row& row : {Row{1, 1, false}, Row{1, 0, true}, Row{3, 3, false}, Row{3, 2, true},
                         Row{3, 1, false} /* the retry time is unknown */}) {
    CAPTURE(row.cost, row.remaining);
    const auto one = fixture.on(0, ++who, row.cost);
    fixture.remember({one}, {admission(row.remaining)}, 0s, 0s, true);
    CHECK(fixture.recall({one}).has_value() == row.is_denied);
    if (row.is_denied) CHECK(fixture.recalled[0].retry_after == 2s);
  }
}

TEST_CASE("A result without asked_at is not an answer of Redis to this request") {
  KnownDenialsFixture fixture;
  Request request({fixture.on(0)});
  request.decisions[0] = denial(1s);
  fixture.known.remember(request.acquisition, false, epoch);
  CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
}

TEST_CASE("The decisions of two policies are recalled together, and either may be forgotten") {
  KnownDenialsFixture fixture;
  const std::vector both{fixture.on(0), fixture.on(1)};
  fixture.remember(both, {admission(4), denial(1s)});
  CHECK(fixture.recall(both, 100ms) == denied_by(3));
  CHECK(fixture.recalled[0].allowed);
  CHECK(fixture.recalled[0].remaining == 4);
  CHECK(fixture.recalled[1].retry_after == 900ms);
  SECTION("each denies or does not by itself") {
    CHECK(fixture.recall({fixture.on(1)}) == denied_by(1));
    CHECK(fixture.recall({fixture.on(0)}) == std::nullopt);
  }
  SECTION("the one that denied is forgotten") {
    fixture.known.forget({.identity = both[1].identity, .policy_id = 1});
    CHECK(fixture.recall(both) == std::nullopt);
  }
  SECTION("the other one is forgotten") {
    fixture.known.forget({.identity = both[0].identity, .policy_id = 0});
    CHECK(fixture.recall(both) == std::nullopt);
    CHECK(fixture.recall({both[1]}) == denied_by(1));
  }
  SECTION("the same policy of another client is forgotten") {
    fixture.known.forget({.identity = fixture.on(1, 2).identity, .policy_id = 1});
    CHECK(fixture.recall(both) == denied_by(3));
  }
  SECTION("one has an unknown retry time: the request is not decided") {
    const std::vector others{fixture.on(0, 2, 3), fixture.on(1, 2)};
    fixture.remember(others, {admission(1), denial(1s)});
    CHECK(fixture.recall(others) == std::nullopt);
  }
}

TEST_CASE("A shadow policy denies no request, and is recalled beside one that denies") {
  KnownDenialsFixture fixture;
  std::vector claims{fixture.on(0), fixture.on(1)};
  claims[0].shadow = true;
  fixture.remember(claims, {denial(1s), admission(4)});
  CHECK(fixture.recall(claims) == std::nullopt);
  fixture.remember(claims, {denial(1s), denial(2s)});
  CHECK(fixture.recall(claims) == denied_by(3));
  CHECK(fixture.recall(claims, 1s) == std::nullopt);  // it may not deny any more
  claims.pop_back();
  CHECK(fixture.recall(claims) == std::nullopt);
}

TEST_CASE("The fifth entry of a set replaces the one that expires first") {
  KnownDenialsFixture fixture;
  for (std::uint32_t policy_id = 0; policy_id < 4; ++policy_id)
    fixture.remember({fixture.on(policy_id)}, {denial(policy_id == 2 ? 1s : 2s)});
  fixture.remember({fixture.on(4)}, {denial(1'500ms)});
  for (std::uint32_t policy_id = 0; policy_id < 5; ++policy_id) {
    CAPTURE(policy_id);
    CHECK(fixture.recall({fixture.on(policy_id)}).has_value() == (policy_id != 2));
  }
}

TEST_CASE("A denial is remembered only if each key alone determines the result") {
  KnownDenialsFixture fixture;
  const rules::Policy counted = counting_rejected();
  std::vector claims{fixture.on(0), fixture.on(1)};
  CHECK(may_be_remembered({}));
  CHECK(may_be_remembered(claims));
  SECTION("a policy counts rejected requests") {
    claims[1].policy = &counted;
  }
  SECTION("an overdraft is allowed") {
    claims[0].demand.overdraft = true;
    CHECK_FALSE(may_be_merged(claims));
  }
  SECTION("two claims have one key") {
    claims[1].policy_id = 0;
    CHECK_FALSE(may_be_merged(claims));
  }
  CHECK_FALSE(may_be_remembered(claims));
  fixture.remember(claims, {denial(1s), denial(1s)});
  // Beside a policy that counts rejected requests, the state of another key is known.
  CHECK(fixture.recall({fixture.on(0)}).has_value() == may_be_merged(claims));
  // A denial by one of the keys does not decide such a request either.
  fixture.remember({fixture.on(0)}, {denial(1s)});
  CHECK(fixture.recall(claims) == std::nullopt);
  CHECK(fixture.recall({fixture.on(0)}) == denied_by(1));
}

TEST_CASE("A limit whose state is unknown is asked for, up to a number of questions") {
  KnownDenialsFixture fixture;
  fixture.remember({fixture.on(0)}, {denial(1h)});
  const std::vector claims{fixture.on(1), fixture.on(0)};
  for (int i = 0; i < DenialMemory::questions_limit; ++i) {
    CHECK(fixture.recall(claims, 1ms) == std::nullopt);
    fixture.memory.count_question(claims[1], epoch + 1ms);
  }
  CHECK(fixture.recall(claims, 1ms) == denied_by(2));  // without the unknown one
  CHECK(fixture.recall(claims, 1s) == std::nullopt);
  fixture.remember(claims, {admission(4, 30s), denial(1h)}, 1s, 1s);
  CHECK(fixture.recall(claims, 1s) == denied_by(3));
  CHECK(fixture.recalled[0].remaining == 4);
}

TEST_CASE("Every reply brings the remembered states up to date") {
  KnownDenialsFixture fixture;
  const auto two = fixture.on(0, 1, 2);
  fixture.remember({two}, {admission(1, 20s)}, 0s, 0s, true);
  CHECK(fixture.recall({two}, 0s) == denied_by(1));
  CHECK(fixture.recalled[0].remaining == 1);
  CHECK(fixture.recalled[0].retry_after == 20s);
  SECTION("of a cheaper request that takes the rest") {
    fixture.remember({fixture.on(0)}, {admission(0, 19s)}, 1s, 1s, true);
    // For a cost of two the retry time is unknown now.
    CHECK(fixture.recall({two}, 1s) == std::nullopt);
    CHECK(fixture.recall({fixture.on(0)}, 1s) == denied_by(1));
    CHECK(fixture.recalled[0].remaining == 0);
    CHECK(fixture.recalled[0].retry_after == 19s);
  }
  SECTION("of an overdraft") {
    auto overdraft = fixture.on(0, 1, 5);
    overdraft.demand.overdraft = true;
    fixture.remember({overdraft}, {admission(0, 30s)}, 1s, 1s, true);
    CHECK(fixture.recall({fixture.on(0)}, 1s) == denied_by(1));
    CHECK(fixture.recalled[0].retry_after == 30s);
  }
  SECTION("of a request with another limit that counts rejected requests") {
    const rules::Policy counted = counting_rejected();
    std::vector claims{fixture.on(0), fixture.on(1)};
    claims[1].policy = &counted;
    fixture.remember(claims, {admission(0, 25s), admission(1)}, 1s, 1s, true);
    CHECK(fixture.recall({fixture.on(0)}, 1s) == denied_by(1));
    CHECK(fixture.recall({fixture.on(1)}, 1s) == std::nullopt);
  }
}

}  // namespace weir::store::test
