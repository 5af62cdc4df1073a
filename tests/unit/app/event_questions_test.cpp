#include "app/event_questions.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

const Instant questions_epoch = instant_from_us(1'700'000'000'000'000);

limiter::QuotaEvent numbered(std::uint64_t key) {
  return {.key = {.identity = {.low = key}}};
}

}  // namespace

TEST_CASE("the mark of an event has the times of its window from now on") {
  limiter::QuotaEvent event{.key = {.identity = {.low = 7}, .policy_id = 1}, .percent = 80};
  // A window of a minute that begins with the event, asked for a second later.
  event.window = {.ends_at = questions_epoch + 59s, .earlier_until = questions_epoch - 1s};
  const auto rolling = mark_of(event, "p", questions_epoch);
  CHECK(rolling.identity == Hash128{.low = 7});
  CHECK(rolling.policy == "p");
  CHECK(rolling.percent == 80);
  CHECK(rolling.ends_after == 59s);
  CHECK(rolling.earlier_until == -1s);
  CHECK(rolling.kept_for == 69s);
  // A short fixed window that has ended meanwhile.
  event.window = {.ends_at = questions_epoch - 1s, .earlier_until = questions_epoch - 2s};
  const auto ended = mark_of(event, "p", questions_epoch);
  CHECK(ended.ends_after == -1s);
  CHECK(ended.kept_for == 1s);
}

TEST_CASE("a question is answered once, or is overdue") {
  EventQuestions questions;
  const auto first = questions.add(numbered(1), questions_epoch);
  const auto second = questions.add(numbered(2), questions_epoch + 1s);
  questions.add(numbered(3), questions_epoch + 2s);
  CHECK(questions.room() == EventQuestions::most - 3);
  CHECK(questions.take(second)->key.identity.low == 2);
  CHECK_FALSE(questions.take(second));
  CHECK(questions.take_asked_before(questions_epoch).empty());
  const auto overdue = questions.take_asked_before(questions_epoch + 2s);
  REQUIRE(overdue.size() == 1);
  CHECK(overdue[0].key.identity.low == 1);
  CHECK_FALSE(questions.take(first));
  CHECK_FALSE(questions.is_empty());
  CHECK(questions.take_asked_before(Instant::max()).size() == 1);
  CHECK(questions.is_empty());
}

}  // namespace weir::app
