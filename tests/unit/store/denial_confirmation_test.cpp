#include "store/denial_confirmation.hpp"

#include "catch.hpp"
#include "store/circuit_breaker.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::store::test {
namespace {

constexpr Duration lease = DenialConfirmation::lease;

struct ConfirmationFixture {
  void deny(Instant sent_at) {
    const rules::Decision denial{.allowed = false,
                                 .limit = 1,
                                 .reset_after = 3'600s,
                                 .more_after = 3'600s,
                                 .retry_after = 3'600s};
    memory.remember(key,
                    {.decision = denial, .exchange = {.sent_at = sent_at, .answered_at = sent_at}});
  }
  bool is_denied(Instant now) const { return memory.recall(key, now).has_value(); }
  /// Reads the generation at an instant; it is answered later.
  void read(Instant asked_at, std::uint64_t generation, Instant answered_at) {
    const int before = remote.generation_reads;
    confirmation.keep_fresh(asked_at);
    REQUIRE(remote.generation_reads == before + 1);
    remote.answer_generation(generation, answered_at);
  }

  rules::Policy limit = gcra(1);
  Claim key = claim(limit, 1);
  FakeStore remote;
  DenialMemory memory{16, 1, lease};
  BreakerCounters counters;
  CircuitBreaker breaker{remote, {.timeout = 5s, .failures = 1, .retry_after = 1s}, counters};
  DenialConfirmation confirmation{breaker, memory};
};

}  // namespace

TEST_CASE("The generation is read again half a lease after the question of the last read") {
  ConfirmationFixture fixture;
  fixture.read(epoch, 7, epoch + 10ms);
  struct Row {
    Duration after;
    int reads;
  };
  for (const auto& row : {Row{0us, 1}, Row{lease / 2 - 1us, 1}, Row{lease / 2, 2},
                          // One at a time, however long it takes.
                          Row{lease / 2 + 1us, 2}, Row{10 * lease, 2}}) {
    fixture.confirmation.keep_fresh(epoch + row.after);
    CHECK(fixture.remote.generation_reads == row.reads);
  }
}

TEST_CASE("A read that is not sent or not answered is repeated at the next use") {
  ConfirmationFixture fixture;
  fixture.remote.ready = false;
  fixture.confirmation.begin(epoch);
  CHECK(fixture.remote.generation_reads == 0);
  fixture.remote.ready = true;
  fixture.confirmation.begin(epoch);
  CHECK(fixture.remote.generation_reads == 1);
  fixture.confirmation.begin(epoch);
  CHECK(fixture.remote.generation_reads == 1);
  fixture.deny(epoch);
  fixture.confirmation.on_no_generation();
  CHECK(fixture.is_denied(epoch + lease - 1us));
  CHECK_FALSE(fixture.is_denied(epoch + lease));
  fixture.confirmation.keep_fresh(epoch + 1us);
  CHECK(fixture.remote.generation_reads == 2);
}

TEST_CASE("begin() reads until the generation is known, even if it is 0") {
  for (const std::uint64_t generation : {0, 7}) {
    ConfirmationFixture fixture;
    fixture.confirmation.begin(epoch);
    CHECK(fixture.remote.generation_reads == 1);
    fixture.remote.answer_generation(generation, epoch + 1ms);
    fixture.confirmation.begin(epoch + 10 * lease);
    CHECK(fixture.remote.generation_reads == 1);
  }
}

TEST_CASE("The same generation confirms denials for a lease from the question, not the answer") {
  ConfirmationFixture fixture;
  fixture.read(epoch, 7, epoch);
  fixture.deny(epoch + 1ms);
  fixture.read(epoch + 200ms, 7, epoch + 240ms);
  CHECK(fixture.is_denied(epoch + 200ms + lease - 1us));
  CHECK_FALSE(fixture.is_denied(epoch + 200ms + lease));
}

TEST_CASE("Another generation discards the denials of questions from before its answer") {
  struct Row {
    std::uint64_t before, after;
    bool stays;
  };
  for (const auto& row : {Row{7, 7, true}, Row{7, 8, false}, Row{7, 6, false}, Row{7, 0, false},
                          Row{0, 0, true}, Row{0, 1, false}}) {
    CAPTURE(row.before, row.after);
    ConfirmationFixture fixture;
    fixture.read(epoch, row.before, epoch);
    fixture.deny(epoch + 160ms);  // between the question of the read and its answer
    fixture.read(epoch + 150ms, row.after, epoch + 170ms);
    CHECK(fixture.is_denied(epoch + 171ms) == row.stays);
    fixture.deny(epoch + 171ms);
    CHECK(fixture.is_denied(epoch + 172ms));
  }
}

TEST_CASE("The first generation discards what was remembered before it") {
  ConfirmationFixture fixture;
  fixture.deny(epoch);
  fixture.read(epoch + 1ms, 7, epoch + 2ms);
  CHECK_FALSE(fixture.is_denied(epoch + 3ms));
}

TEST_CASE("After settled_after no denial from before a change is used") {
  static_assert(DenialConfirmation::settled_after > lease);
  ConfirmationFixture fixture;
  fixture.read(epoch, 7, epoch);
  fixture.deny(epoch + 1ms);
  // Overrides change right after a read, whose answer still has the earlier generation.
  const Instant changed_at = epoch + 200ms;
  fixture.read(changed_at, 7, changed_at + 1ms);
  CHECK(fixture.is_denied(changed_at + 1ms));
  CHECK_FALSE(fixture.is_denied(changed_at + DenialConfirmation::settled_after));
}

}  // namespace weir::store::test
