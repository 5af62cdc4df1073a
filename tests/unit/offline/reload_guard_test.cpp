// The judgement of a configuration in shadow: shares, the end of the period, and an early failure.
#include "offline/reload_guard.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::offline::test {
namespace {

using namespace std::chrono_literals;
using enum Judgement;

constexpr std::uint64_t huge = 1'000'000'000'000;

struct ShareRow {
  std::int64_t share;
  std::uint64_t decisions, permitted;
};

struct JudgementRow {
  std::int64_t share;
  Duration after;
  std::uint64_t decisions, flips;
  Judgement judgement;
};

}  // namespace

TEST_CASE("reload guard: a share permits whole flips, rounded down") {
  const std::vector<ShareRow> rows{
      {0, 0, 0},
      {0, huge, 0},
      {5'000, 199, 0},
      {5'000, 200, 1},
      {5'000, 399, 1},
      {1, 999'999, 0},
      {1, 1'000'000, 1},
      {999'999, 1'000'001, 999'999},
      {whole_share, huge + 7, huge + 7},
  };
  for (const auto& row : rows) {
    CAPTURE(row.share, row.decisions);
    CHECK(permitted_flips(row.share, row.decisions) == row.permitted);
  }
}

TEST_CASE("reload guard: judges at the end, and before it only what can no longer pass") {
  const Instant begun = instant_from_us(1'767'225'600'000'000);
  const std::vector<JudgementRow> rows{
      // the end of the period is final
      {5'000, 100s, 0, 0, passed},
      {5'000, 100s, 200, 1, passed},
      {5'000, 100s, 200, 2, failed},
      {5'000, 101s, 199, 1, failed},
      {0, 100s, 1, 0, passed},
      {0, 100s, 1, 1, failed},
      {whole_share, 100s, 10, 10, passed},
      {5'000, 100s - 1us, 200, 200, pending},
      // too early, or too few decisions
      {5'000, 10s - 1us, 5'000, 5'000, pending},
      {5'000, 50s, 999, 999, pending},
      // 1,000 in a tenth: 10,000 are expected, of which 50 may flip
      {5'000, 10s, 1'000, 50, pending},
      {5'000, 10s, 1'000, 51, failed},
      {0, 10s, 1'000, 1, failed},
      {whole_share, 10s, 1'000, 1'000, pending},
      // half of the period: 2,000
      {5'000, 50s, 1'000, 10, pending},
      {5'000, 50s, 1'000, 11, failed},
      {5'000, 60s, huge, huge / 200, pending},
      {5'000, 60s, huge, huge / 100, failed},
  };
  for (const auto& row : rows) {
    CAPTURE(row.share, row.after.count(), row.decisions, row.flips);
    const ReloadGuard guard{.begun_at = begun, .shadow = 100s, .max_flips = row.share};
    CHECK(judge(guard, {.decisions = row.decisions, .flips = row.flips}, begun + row.after) ==
          row.judgement);
  }
}

TEST_CASE("reload guard: more skipped than compared requests do not pass") {
  struct Row {
    Duration after;
    PeriodCounts compared;
    Judgement judgement;
  };
  const auto row = GENERATE(Row{100s, {0, 0, 0}, passed},         //
                            Row{100s, {0, 0, 1}, not_compared},   //
                            Row{100s, {0, 0, 5}, not_compared},   //
                            Row{100s, {5, 0, 5}, passed},         //
                            Row{100s, {5, 0, 6}, not_compared},   //
                            Row{100s, {5, 5, 6}, failed},         //
                            Row{100s - 1us, {0, 0, 5}, pending},  //
                            Row{50s, {1'000, 0, huge}, pending},  //
                            Row{50s, {1'000, 11, huge}, failed});
  CAPTURE(row.compared.decisions, row.compared.flips, row.compared.skipped);
  const ReloadGuard guard{.shadow = 100s, .max_flips = 5'000};
  CHECK(judge(guard, row.compared, guard.begun_at + row.after) == row.judgement);
}

TEST_CASE("reload guard: the numbers of a whole day do not overflow") {
  const Instant begun{};
  const ReloadGuard guard{.begun_at = begun, .shadow = 24h, .max_flips = 5'000};
  const std::uint64_t decisions = 100'000'000'000;
  const auto judged = [&](std::uint64_t flips) {
    return judge(guard, {.decisions = decisions, .flips = flips}, begun + 12h);
  };
  CHECK(judged(decisions / 100) == pending);
  CHECK(judged(decisions / 100 + 1) == failed);
}

}  // namespace weir::offline::test
