#include "redis/hold_table.hpp"

#include "catch.hpp"

namespace weir::redis {
namespace {

using namespace std::chrono_literals;
using rules::Algorithm;

constexpr store::Key held_key{.identity = {.low = 1, .high = 2}, .policy_id = 3};

/// One worker's table, and commands for one key.
struct TableFixture {
  HeldKey& take(Algorithm algorithm = Algorithm::gcra) {
    HeldKey* const held = table.take(held_key, algorithm);
    REQUIRE(held != nullptr);
    return *held;
  }
  HoldTable::Sent send(HeldKey& held) {
    const HoldTable::Sent sent = table.begin(held);
    table.confirm_sent(sent, now);
    return sent;
  }
  /// A question that takes `units`.
  HeldKey& hold(std::int64_t units, Algorithm algorithm = Algorithm::gcra) {
    HeldKey& held = take(algorithm);
    table.answered(send(held), {.taken = units});
    return held;
  }
  HeldKey* settle(std::int64_t units, std::int64_t actual, Algorithm algorithm = Algorithm::gcra) {
    policy.algorithm = algorithm;
    return table.settle({.policy = &policy, .key = held_key, .held = units, .actual = actual});
  }
  std::vector<HeldKey*> queued(Algorithm algorithm = Algorithm::gcra) {
    std::vector<HeldKey*> keys;
    table.take_queued(algorithm, 10, now, keys);
    return keys;
  }

  StoreCounters counters;
  HoldTable table{1, counters, 2};
  rules::Policy policy{};
  Instant now{};
};

TEST_CASE("units are in flight from the reply until they are settled") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(5);
  CHECK(held.in_flight() == 5);
  CHECK(fixture.counters.held.value() == 5);
  CHECK(fixture.settle(5, 3) == &held);
  CHECK(held.in_flight() == 0);
  CHECK(held.numbers.released == 5);
  CHECK(held.numbers.charged == 3);
  CHECK(fixture.counters.held.value() == 0);

  // The settlement is sent once. The key is dropped when Redis has confirmed it.
  CHECK(fixture.table.has_queued());
  REQUIRE(fixture.queued() == std::vector<HeldKey*>{&held});
  CHECK_FALSE(fixture.table.has_queued());
  fixture.table.answered(fixture.send(held), {});
  CHECK(fixture.table.is_empty());
}

TEST_CASE("a question that takes nothing leaves no key") {
  TableFixture fixture;
  fixture.hold(0);
  CHECK(fixture.table.is_empty());
  fixture.table.not_run(fixture.send(fixture.take()));
  CHECK(fixture.table.is_empty());
}

TEST_CASE("a key beyond the bound is not held") {
  TableFixture fixture;
  const auto take = [&](std::uint32_t policy) {
    return fixture.table.take({.identity = {}, .policy_id = policy}, Algorithm::gcra);
  };
  CHECK(take(1) != nullptr);
  CHECK(take(2) != nullptr);
  CHECK(take(3) == nullptr);
  CHECK(take(1) != nullptr);
  CHECK(fixture.table.size() == 2);
  // Its settlement has no place, unless there is nothing to charge.
  CHECK(fixture.settle(1, 0) == nullptr);
  CHECK(fixture.counters.settlements_lost.value() == 0);
  CHECK(fixture.settle(1, 1) == nullptr);
  CHECK(fixture.counters.settlements_lost.value() == 1);
}

TEST_CASE("a lost command begins a new field, which ends the former one") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(5);
  const std::uint64_t former = held.numbers.field;
  fixture.settle(2, 1);
  fixture.table.lost(fixture.send(held));
  CHECK(held.is_ambiguous);
  CHECK(held.numbers.field == former);

  // The lost settlement may have run: what it released and charged stays with the former field.
  const HoldTable::Sent next = fixture.send(held);
  CHECK(held.numbers.field != former);
  CHECK(next.field == held.numbers.field);
  CHECK(held.in_flight() == 3);
  CHECK(held.numbers.taken == 3);
  CHECK(held.numbers.released == 0);
  CHECK(held.numbers.charged == 0);
  REQUIRE(held.numbers.formers.size() == 1);
  CHECK(held.numbers.formers[0].field == former);
  CHECK(held.numbers.formers[0].charged == 1);
  fixture.table.answered(next, {});
  CHECK(held.numbers.formers.empty());
}

TEST_CASE("a command that was not sent is not ambiguous") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(5);
  const std::uint64_t field = held.numbers.field;
  fixture.table.not_run(fixture.table.begin(held));
  CHECK_FALSE(held.is_ambiguous);
  CHECK(fixture.send(held).field == field);
}

TEST_CASE("a reply that comes too late releases what it took") {
  TableFixture fixture;
  HeldKey& held = fixture.take();
  fixture.table.released_late(fixture.send(held), {.taken = 4});
  CHECK(held.in_flight() == 0);
  CHECK(held.numbers.taken == 4);
  CHECK(held.numbers.released == 4);
  CHECK(held.numbers.charged == 0);
  CHECK(fixture.queued() == std::vector<HeldKey*>{&held});
}

TEST_CASE("units outlive a lease, and their settlement charges what exceeds them") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(5);
  fixture.table.answered(fixture.send(held), {.lost = 1});
  CHECK(held.in_flight() == 0);
  CHECK(held.outlived == 5);
  CHECK(fixture.counters.holds_outlived.value() == 5);
  CHECK_FALSE(fixture.table.is_empty());
  fixture.settle(5, 7);
  CHECK(held.outlived == 0);
  CHECK(held.numbers.charged == 2);
  CHECK(fixture.counters.settlements_lost.value() == 1);
}

TEST_CASE("slots are taken again after a lease, and charge nothing") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(2, Algorithm::concurrency);
  fixture.table.answered(fixture.send(held), {.lost = 1});
  CHECK(held.in_flight() == 2);
  CHECK(held.outlived == 0);
  fixture.settle(1, 9, Algorithm::concurrency);
  CHECK(held.in_flight() == 1);
  CHECK(held.numbers.charged == 0);
}

TEST_CASE("a lease is renewed after a third of it, while units are in flight") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(1);
  fixture.now += hold_lease / 3 - 1us;
  fixture.table.queue_due(fixture.now);
  CHECK_FALSE(fixture.table.has_queued());
  fixture.now += 1us;
  fixture.table.queue_due(fixture.now);
  CHECK(fixture.queued() == std::vector<HeldKey*>{&held});
  fixture.table.answered(fixture.send(held), {});
  fixture.table.queue_due(fixture.now);
  CHECK_FALSE(fixture.table.has_queued());
}

TEST_CASE("a key that was removed in Redis holds nothing") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(5);
  const HoldTable::Sent sent = fixture.send(held);
  fixture.table.forget(held_key, Algorithm::gcra);
  CHECK(fixture.counters.held.value() == 0);
  // The reply to an earlier command is about a field that does not count.
  fixture.table.answered(sent, {.taken = 3});
  CHECK(fixture.counters.held.value() == 0);
  CHECK(held.forgotten == 8);
  fixture.table.forget(held_key, Algorithm::gcra);
  // The requests from before are charged when they end, and release nothing of a later one.
  fixture.table.answered(fixture.send(held), {.taken = 4});
  fixture.settle(5, 2);
  fixture.settle(3, 1);
  CHECK(held.forgotten == 0);
  CHECK(held.in_flight() == 4);
  CHECK(held.numbers.released == 0);
  CHECK(held.numbers.charged == 3);
  CHECK(fixture.counters.settlements_lost.value() == 0);
}

TEST_CASE("slots of requests in progress are not forgotten") {
  TableFixture fixture;
  HeldKey& held = fixture.hold(2, Algorithm::concurrency);
  fixture.table.forget(held_key, Algorithm::concurrency);
  CHECK(held.in_flight() == 2);
}

TEST_CASE("units of a key that another worker has removed are forgotten") {
  TableFixture fixture;
  fixture.now = Instant{} + 1h;
  HeldKey& held = fixture.take();
  const auto send = [&] {
    const HoldTable::Sent sent = fixture.table.begin(held, fixture.now);
    fixture.table.confirm_sent(sent, fixture.now);
    return sent;
  };
  const HoldTable::Sent first = send();
  CHECK_FALSE(first.has_lease);
  fixture.table.answered(first, {.taken = 5});
  SECTION("within the lease") {
    fixture.now += hold_lease / 2 - 1us;
    const HoldTable::Sent later = send();
    CHECK(later.has_lease);
    fixture.table.answered(later, {.lost = 5});
    CHECK(held.forgotten == 5);
    CHECK(held.outlived == 0);
    CHECK(held.in_flight() == 0);
    CHECK(fixture.counters.held.value() == 0);
    CHECK(fixture.counters.holds_outlived.value() == 0);
    fixture.settle(5, 3);
    CHECK(held.numbers.charged == 3);
  }
  SECTION("not if the lease may have ended") {
    fixture.now += hold_lease / 2;
    const HoldTable::Sent later = send();
    CHECK_FALSE(later.has_lease);
    fixture.table.answered(later, {.lost = 5});
    CHECK(held.outlived == 5);
  }
  SECTION("a command that did not run has renewed nothing") {
    fixture.now += hold_lease / 3;
    fixture.table.not_run(send());
    fixture.now += hold_lease / 3;
    CHECK_FALSE(fixture.table.begin(held, fixture.now).has_lease);
  }
  SECTION("not if a command was lost") {
    fixture.table.lost(send());
    CHECK_FALSE(send().has_lease);
  }
}

TEST_CASE("the units of other fields that ended are counted") {
  TableFixture fixture;
  fixture.table.answered(fixture.send(fixture.take()), {.ended = 6});
  CHECK(fixture.counters.holds_expired.value() == 6);
}

TEST_CASE("a refund goes with one command, and again only if that was refused") {
  TableFixture fixture;
  HeldKey* const held = fixture.settle(0, -4);
  REQUIRE(held != nullptr);
  REQUIRE(fixture.queued() == std::vector<HeldKey*>{held});
  HoldTable::Sent sent = fixture.send(*held);
  CHECK(sent.refund == 4);
  const HoldTable::Sent next = fixture.send(*held);
  CHECK(next.refund == 0);
  fixture.table.answered(next, {});
  fixture.table.not_run(sent);
  REQUIRE(fixture.queued().empty());
  fixture.table.queue_due(fixture.now);
  REQUIRE(fixture.queued() == std::vector<HeldKey*>{held});
  sent = fixture.send(*held);
  CHECK(sent.refund == 4);
  CHECK(fixture.counters.settlements_lost.value() == 0);

  SECTION("a redirected command passes it on") {
    fixture.table.keep_refund(sent);
    const HoldTable::Sent redirected = fixture.send(*held);
    CHECK(redirected.refund == 4);
    fixture.table.not_run(sent);
    fixture.table.answered(redirected, {});
  }
  SECTION("a lost command loses it") {
    fixture.table.lost(sent);
    CHECK(fixture.counters.settlements_lost.value() == 1);
    const HoldTable::Sent after = fixture.send(*held);
    CHECK(after.refund == 0);
    fixture.table.answered(after, {});
  }
  SECTION("a reset of the key leaves nothing to give back") {
    fixture.table.forget(held_key, Algorithm::gcra);
    fixture.table.not_run(sent);
  }
  CHECK(fixture.table.is_empty());
}

TEST_CASE("a refund takes charges that are not sent, and those of a command are not") {
  TableFixture fixture;
  HeldKey* const held = fixture.settle(0, 5);
  REQUIRE(held != nullptr);
  fixture.settle(0, -2);
  CHECK(held->numbers.charged == 3);
  CHECK(held->refund == 0);
  const HoldTable::Sent composed = fixture.table.begin(*held);
  fixture.settle(0, -2);
  CHECK(held->numbers.charged == 3);
  CHECK(held->refund == 2);
  fixture.settle(0, 1);
  fixture.settle(0, -4);
  CHECK(held->numbers.charged == 3);
  CHECK(held->refund == 5);
  fixture.table.not_run(composed);
  // Refunds come before charges, in the order of the settlements.
  fixture.settle(0, 6);
  const HoldTable::Sent sent = fixture.table.begin(*held);
  CHECK(sent.refund == 5);
  CHECK(sent.charged == 9);
}

TEST_CASE("the texts of charges stay until Redis has confirmed them") {
  TableFixture fixture;
  constexpr auto algorithm = Algorithm::attributed_window;
  fixture.policy.algorithm = algorithm;
  const auto charge = [&](std::int64_t units, std::vector<std::string> attributes) {
    HeldKey* const held = fixture.table.settle({.policy = &fixture.policy,
                                                .key = held_key,
                                                .actual = units,
                                                .attributes = std::move(attributes)});
    REQUIRE(held != nullptr);
    return held;
  };
  const auto texts_of = [](const HeldKey& held) {
    std::string all;
    for (const ChargeText& text : held.texts)
      all += std::to_string(text.units) + text.attributes + ' ';
    return all;
  };
  HeldKey& held = *charge(2, {"a", "x"});
  charge(1, {"b", ""});
  CHECK(texts_of(held) == "2a\tx 1b\t ");
  const HoldTable::Sent first = fixture.send(held);
  charge(4, {"c"});
  SECTION("a reply confirms those of its command") {
    fixture.table.answered(first, {});
    CHECK(texts_of(held) == "4c ");
    fixture.table.answered(fixture.send(held), {});
    CHECK(fixture.queued(algorithm).empty());
    CHECK(fixture.table.is_empty());
  }
  SECTION("those of a command that Redis has refused or that is lost go with the next one") {
    fixture.table.lost(first);
    const HoldTable::Sent second = fixture.send(held);
    CHECK(texts_of(held) == "2a\tx 1b\t 4c ");
    fixture.table.not_run(second);
    fixture.table.answered(fixture.send(held), {});
    CHECK(held.texts.empty());
  }
  SECTION("a refund takes the newest that no command has") {
    charge(-3, {"c"});
    CHECK(texts_of(held) == "2a\tx 1b\t 1c ");
  }
  SECTION("a reset removes them") {
    fixture.table.forget(held_key, algorithm);
    CHECK(held.texts.empty());
  }
  SECTION("beyond the bound they are one, without a text") {
    for (std::size_t i = 0; i < most_charge_texts; ++i)
      charge(1, {"d"});
    CHECK(held.texts.size() == most_charge_texts);
    CHECK(held.texts.back().units == 4);
    CHECK(held.texts.back().attributes.empty());
  }
}

TEST_CASE("concurrency has nothing to give back") {
  TableFixture fixture;
  CHECK(fixture.settle(0, -4, Algorithm::concurrency) == nullptr);
}

}  // namespace
}  // namespace weir::redis
