// All links together, as a worker uses them with Redis.
#include <memory>
#include <vector>

#include "catch.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {

TEST_CASE("The remote store decides, and nothing is charged here") {
  ChainFixture fixture;
  const auto wide = gcra(10);
  const auto narrow = gcra(2);
  Request request({fixture.shared(wide), fixture.shared(narrow, 1, 1)});
  fixture.serve(request);
  CHECK(request.result == Result{.admitted = true, .decider = Decider::redis, .decided = 3});
  CHECK(request.decisions[0].remaining == 9);
  CHECK(request.decisions[1].remaining == 1);
  fixture.serve(request);
  CHECK(request.admitted());
  fixture.serve(request);
  CHECK(request.denied());
  CHECK(request.decider() == Decider::redis);
  CHECK(request.decisions[0].remaining == 8);
  CHECK(fixture.local.keys() == 0);
}

TEST_CASE("A flood of one key costs Redis almost nothing") {
  ChainFixture fixture;
  const auto wide = gcra(10);
  const auto narrow = gcra(2);
  Request request({fixture.shared(wide), fixture.shared(narrow, 1, 1)});
  // The admission that leaves nothing contains the denial to come.
  for (int i = 0; i < 3; ++i)
    fixture.serve(request);
  REQUIRE(fixture.remote.questions == 2);
  for (int i = 1; i <= 1'000; ++i) {
    fixture.serve(request, Duration{i * 4'000});
    REQUIRE(request.denied());
    REQUIRE(request.decider() == Decider::redis);
    // As Redis decided, less the time that has passed; also for the limit that did not deny.
    REQUIRE(request.result->decided == 3);
    REQUIRE(request.decisions[0].allowed);
    REQUIRE(request.decisions[0].remaining == 8);
    REQUIRE_FALSE(request.decisions[1].allowed);
    REQUIRE(request.decisions[1].retry_after <= Duration{1'800s} - Duration{i * 4'000});
  }
  CHECK(fixture.remote.questions == 2);
  CHECK(fixture.chain().counters().remembered.value() == 1'001);
  // For 5 s only, and not after a reset.
  fixture.serve(request, 5s);
  CHECK(request.denied());
  CHECK(fixture.remote.questions == 3);
  Received received;
  fixture.front().forget({.identity = request.claims[1].identity, .policy_id = 1}, received,
                         epoch + 5s);
  fixture.remote.answer_all(epoch + 5s);
  CHECK(received.result->error == Error::none);
  CHECK(fixture.remote.forgotten == 1);
  fixture.serve(request, 5s);
  CHECK(fixture.remote.questions == 4);
}

TEST_CASE("A denied key denies with any other limit whose state is known") {
  ChainFixture fixture;
  const auto narrow = gcra(1);
  const auto per_key = gcra(10);
  Request first({fixture.shared(narrow)});
  fixture.serve(first);
  fixture.serve(first);
  REQUIRE(first.denied());
  REQUIRE(fixture.remote.questions == 1);
  Request with_key({fixture.shared(narrow), fixture.shared(per_key, 7, 1)});
  for (int i = 0; i < 3; ++i) {
    fixture.serve(with_key);
    CHECK(with_key.denied());
    CHECK(with_key.result->decided == 3);
    CHECK(with_key.decisions[1].remaining == 10);
    CHECK(fixture.remote.questions == 2);  // once, for the other limit
  }
  Request other_client({fixture.shared(narrow, 2), fixture.shared(per_key, 7, 1)});
  fixture.serve(other_client);
  CHECK(other_client.admitted());
  CHECK(fixture.remote.questions == 3);
  // The reply to the other client has updated the remembered count.
  fixture.serve(with_key);
  CHECK(with_key.decisions[1].remaining == 9);
  CHECK(fixture.remote.questions == 3);
}

TEST_CASE("A client that uses many costs on one key costs Redis a few questions") {
  ChainFixture fixture;
  const auto limit = policy(rules::Algorithm::sliding_log, 10, 3'600s);
  Request request({fixture.shared(limit)});
  for (int i = 0; i < 10; ++i) {
    fixture.remote.server_now = epoch + i * 1s;
    fixture.serve(request, i * 1s);
    REQUIRE(request.admitted());
  }
  const int before = fixture.remote.questions;
  for (int i = 0; i < 800; ++i) {
    const std::int64_t cost = i % 8 + 1;
    const Duration at = 10s + i * 1ms;
    fixture.remote.server_now = epoch + at;
    Request denied({fixture.shared(limit)});
    denied.claims[0].demand.cost = cost;
    fixture.serve(denied, at);
    REQUIRE(denied.denied());
    REQUIRE(denied.decisions[0].remaining == 0);
    const Duration retry_after = denied.decisions[0].retry_after.value();
    const Duration needed = 3'600s + (cost - 1) * 1s - at;
    CAPTURE(i, cost);
    // One follows from the level, and three are kept; the others are not shorter, and end with the
    // last entry.
    REQUIRE(retry_after >= needed);
    REQUIRE(retry_after <= (cost <= 4 ? needed : 3'609s - at));
  }
  CHECK(fixture.remote.questions == before + 4);
}

TEST_CASE("A denied key with ever other limits costs Redis a few questions, one at a time") {
  ChainFixture fixture;
  const auto narrow = gcra(1);
  const auto per_key = gcra(10);
  Request first({fixture.shared(narrow)});
  fixture.serve(first);
  REQUIRE(fixture.remote.questions == 1);
  SECTION("one after the other") {
    for (std::uint64_t who = 1; who <= 100; ++who) {
      Request request({fixture.shared(narrow), fixture.shared(per_key, who, 1)});
      fixture.serve(request, 1ms);
      CHECK(request.denied());
      // Without the limits that Redis was not asked for.
      CHECK(request.result->decided == (who <= DenialMemory::questions_limit ? 3 : 1));
    }
    CHECK(fixture.remote.questions == 1 + DenialMemory::questions_limit);
  }
  SECTION("together") {
    std::vector<std::unique_ptr<Request>> requests;
    for (std::uint64_t who = 1; who <= 100; ++who) {
      requests.push_back(std::make_unique<Request>(
          std::vector{fixture.shared(narrow), fixture.shared(per_key, who, 1)}));
      requests.back()->come(fixture.front(), 1ms);
      CHECK(fixture.remote.pending.size() == 1);
    }
    fixture.remote.answer_all(epoch + 1ms);
    for (const auto& request : requests)
      CHECK(request->denied());
    CHECK(fixture.remote.questions == 1 + DenialMemory::questions_limit);
  }
}

TEST_CASE("A denial that does not determine the next result is asked each time") {
  ChainFixture fixture;
  const auto plain = gcra(1);
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::fixed_window;
  definition.count_rejected = true;
  std::vector<Claim> claims;
  rules::Policy counted;
  SECTION("a policy counts rejected requests") {
    definition.rates = {{.count = 1, .per = 3'600s}};
    counted = policy(definition);
    claims = {fixture.shared(counted)};
  }
  SECTION("another policy of the request does") {
    definition.rates = {{.count = 100, .per = 3'600s}};
    counted = policy(definition);
    claims = {fixture.shared(plain), fixture.shared(counted, 1, 1)};
  }
  SECTION("only a shadow policy denies") {
    claims = {fixture.shared(plain)};
    claims[0].shadow = true;
  }
  SECTION("two limits share a key") {
    claims = {fixture.shared(plain), fixture.shared(plain)};
  }
  SECTION("an overdraft is allowed") {
    claims = {fixture.shared(plain), fixture.shared(plain, 1, 1)};
    claims[1].demand.overdraft = true;
  }
  Request request(claims);
  for (int i = 0; i < 5; ++i)
    fixture.serve(request);
  CHECK(fixture.remote.questions == 5);
  CHECK(fixture.chain().counters().remembered.value() == 0);
}

TEST_CASE("A decision of this instance alone is not remembered as one of Redis") {
  ChainFixture fixture;
  const auto wide = gcra(10);
  Request request({fixture.shared(wide)});
  fixture.serve(request, 0s, Error::timeout);
  REQUIRE(request.decider() == Decider::local);
  fixture.remote.reply_late();
  fixture.serve(request, 0s);
  CHECK(request.decider() == Decider::redis);
  CHECK(request.admitted());
}

TEST_CASE("Settlements and peeks pass through all links") {
  ChainFixture fixture;
  fixture.front().settle({}, epoch + 3s);
  CHECK(fixture.remote.settle_calls == 1);
  CHECK(fixture.remote.settled_at == epoch + 3s);
  const auto limit = gcra(1);
  Request request({fixture.shared(limit)});
  CHECK_FALSE(fixture.front().peek(request.acquisition, request, epoch).has_value());
  fixture.remote.answer(epoch, Error::refused);
  // No other store answers instead.
  CHECK(request.result->error == Error::refused);
  CHECK(fixture.breaker() == NodeControl::State::closed);
  CHECK(fixture.chain().counters().alone.value() == 0);
}

TEST_CASE("A denial is used for a lease, and longer while the generation stays the same") {
  ChainFixture fixture;
  const auto limit = gcra(1);
  Request request({fixture.shared(limit)});
  fixture.serve(request);
  REQUIRE(request.admitted());
  const int asked = fixture.remote.questions;
  const auto is_remembered = [&](Duration after) {
    const int before = fixture.remote.questions;
    fixture.serve(request, after);
    REQUIRE(request.denied());
    return fixture.remote.questions == before;
  };
  SECTION("alone for the lease") {
    fixture.remote.ready = false;  // so that the generation is not read
    request.come(fixture.front(), DenialConfirmation::lease - 1us);
    CHECK(request.denied());
    CHECK(fixture.remote.questions == asked);
    fixture.remote.ready = true;
    CHECK_FALSE(is_remembered(DenialConfirmation::lease));
  }
  SECTION("each use half a lease later confirms it") {
    for (int i = 0; i < 30; ++i)
      CHECK(is_remembered(i * 150ms));
    CHECK(fixture.remote.questions == asked);
    CHECK(fixture.remote.generation_reads <= 32);
  }
  SECTION("another generation discards it") {
    CHECK(is_remembered(200ms));
    fixture.generation = 8;
    CHECK(is_remembered(340ms));  // reads the new generation
    CHECK_FALSE(is_remembered(341ms));
    CHECK(is_remembered(342ms));
  }
  SECTION("the end of an override ends it") {
    OverrideTable& overrides = fixture.remote.server.overrides();
    const Override denial{.kind = Override::Kind::denied, .until = epoch + 100ms};
    overrides.put(request.claims[0].identity, denial, epoch, [](const auto&) {});
    fixture.generation = 8;
    Request other({fixture.shared(limit, 2)});
    overrides.put(other.claims[0].identity, denial, epoch, [](const auto&) {});
    fixture.serve(other);
    CHECK(other.denied());
    CHECK(other.decisions[0].override_effect == rules::OverrideEffect::denied);
    const int before = fixture.remote.questions;
    fixture.serve(other, 99ms);
    CHECK(other.denied());
    CHECK(other.decisions[0].override_effect == rules::OverrideEffect::denied);
    CHECK(fixture.remote.questions == before);
    fixture.remote.server_now = epoch + 100ms;
    fixture.serve(other, 100ms);
    CHECK(other.admitted());
  }
}

TEST_CASE("Holds of Redis and local ones are settled where they were granted, also in an outage") {
  ChainFixture fixture;
  const auto slots = policy(rules::Algorithm::concurrency, 2, 1s);
  const auto share = policy(rules::Algorithm::concurrency, 1, 1s);
  Claim slot = claim(slots, 1);
  slot.holds = true;
  slot.local_policy = &share;
  const auto settlement = [&](const rules::Policy& decided_by, bool alone) {
    return Settlement{
        .policy = &decided_by, .key = {.identity = slot.identity}, .held = 1, .alone = alone};
  };
  Request granted({slot});
  fixture.serve(granted);
  REQUIRE(granted.decider() == Decider::redis);
  CHECK(granted.decisions[0].held == 1);

  // Redis is away: the local share admits one more, and the hold of Redis stays with Redis.
  fixture.remote.ready = false;
  Request local({slot});
  fixture.serve(local, 1s);
  REQUIRE(local.decider() == Decider::local);
  CHECK(local.admitted());
  CHECK(fixture.local.holds() == 1);
  Request denied({slot});
  fixture.serve(denied, 1s);
  CHECK(denied.denied());
  const Settlement ended[] = {settlement(slots, false), settlement(share, true)};
  fixture.front().settle(ended, epoch + 2s);
  CHECK(fixture.local.holds() == 0);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK_FALSE(fixture.remote.settled[0].alone);

  // Back again: nothing of the outage is counted there.
  fixture.remote.ready = true;
  fixture.remote.server.settle(fixture.remote.settled, epoch + 2s);
  CHECK(fixture.remote.server.holds() == 0);
}

TEST_CASE("Requests for a slot always reach Redis, because any settlement may free one") {
  ChainFixture fixture;
  const auto slots = policy(rules::Algorithm::concurrency, 1, 1s);
  Claim slot = claim(slots, 1);
  slot.holds = true;
  Request first({slot});
  fixture.serve(first);
  REQUIRE(first.admitted());
  for (int i = 0; i < 3; ++i) {
    Request denied({slot});
    fixture.serve(denied, 1ms * i);
    CHECK(denied.denied());
    CHECK(denied.decisions[0].by_holds);
  }
  CHECK(fixture.counters.remembered.value() == 0);
  CHECK(fixture.remote.questions == 4);
}

TEST_CASE("A refund ends the denials that are remembered for its key") {
  ChainFixture fixture;
  const auto narrow = gcra(2);
  Request request({fixture.shared(narrow)});
  for (int i = 0; i < 3; ++i)
    fixture.serve(request);
  REQUIRE(request.denied());
  REQUIRE(fixture.remote.questions == 2);
  const Settlement refund{
      .policy = &narrow, .key = {.identity = request.claims[0].identity}, .actual = -1};
  fixture.front().settle({&refund, 1}, epoch + 1ms);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].actual == -1);
  const int before = fixture.remote.questions;
  fixture.serve(request, 2ms);
  CHECK(request.denied());  // the question comes before the refund, so its reply is not kept
  fixture.remote.server.settle(fixture.remote.settled, epoch + 2ms);
  fixture.serve(request, 3ms);
  CHECK(request.admitted());
  CHECK(fixture.remote.questions == before + 2);
  // Denials are remembered again.
  fixture.serve(request, 100ms);
  CHECK(request.denied());
  fixture.serve(request, 101ms);
  CHECK(request.denied());
  CHECK(fixture.remote.questions == before + 3);
}

}  // namespace weir::store::test
