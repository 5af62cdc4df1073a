#include "app/replica_count.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

using namespace weir;
using namespace weir::app;
using namespace std::literals;

namespace {

const Instant count_start = instant_from_us(1'700'000'000'000'000);

struct Report {
  std::int64_t instances;
  Instant at;
};

/// The highest number among the reports since `from`.
std::int64_t highest(const std::vector<Report>& reports, Instant from) {
  std::int64_t most = 0;
  for (const Report& report : reports)
    if (report.at >= from) most = std::max(most, report.instances);
  return most;
}

}  // namespace

TEST_CASE("the number of instances rises at once and falls slowly") {
  struct Row {
    Duration at;
    std::int64_t instances;
    std::int64_t count;
  };
  const auto check = [](const std::vector<Row>& rows) {
    ReplicaCount count;
    CHECK(count.value() == 1);
    for (const Row& row : rows) {
      CAPTURE(row.at, row.instances);
      count.report(row.instances, count_start + row.at);
      CHECK(count.value() == row.count);
    }
  };
  SECTION("an instance stops") {
    check({{0s, 3, 3},
           {10s, 2, 3},
           {20s, 2, 3},
           {30s, 2, 3},
           {40s, 2, 3},
           {50s, 2, 3},
           {60s, 2, 3},
           {69s, 2, 3},
           {70s, 2, 2}});
  }
  SECTION("an instance restarts") {
    check({{0s, 3, 3},
           {10s, 2, 3},
           {20s, 3, 3},
           {30s, 2, 3},
           {45s, 2, 3},
           {60s, 2, 3},
           {75s, 2, 3},
           {89s, 2, 3},
           {90s, 2, 2}});
  }
  SECTION("the highest of the lower numbers counts") {
    check({{0s, 9, 9},
           {10s, 2, 9},
           {25s, 5, 9},
           {40s, 3, 9},
           {55s, 3, 9},
           {70s, 3, 5},
           {85s, 3, 5},
           {100s, 3, 5},
           {115s, 3, 5},
           {130s, 3, 5},
           {145s, 3, 3}});
  }
  SECTION("more instances count at once, also while the number falls") {
    check({{0s, 3, 3}, {10s, 2, 3}, {20s, 7, 7}, {30s, 8, 8}});
  }
  SECTION("without reports the number stays, and an outage does not count as time") {
    check({{0s, 3, 3},
           {10s, 2, 3},
           {1h, 1, 3},
           {1h + 15s, 1, 3},
           {1h + 30s, 1, 3},
           {1h + 45s, 1, 3},
           {1h + 59s, 1, 3},
           {1h + 60s, 1, 1}});
  }
}

TEST_CASE("the number of instances is never below a recent report") {
  const TestSeed seed;
  std::mt19937_64 random{seed};
  const auto upto = [&random](int most) { return std::uniform_int_distribution(0, most)(random); };
  for (int history = 0; history < 200; ++history) {
    ReplicaCount count;
    std::vector<Report> reports;
    Instant now = count_start;
    Instant unbroken_since = now;  // reports without a pause
    for (int i = 0; i < 300; ++i) {
      const auto step = upto(50) == 0 ? Duration(1h) : Duration(std::chrono::seconds(1 + upto(9)));
      now += step;
      if (step > ReplicaCount::longest_pause) unbroken_since = now;
      // The number keeps for some time, so that it falls.
      const auto before = reports.empty() ? 1 : reports.back().instances;
      reports.push_back({upto(10) == 0 ? 1 + upto(8) : before, now});
      const std::int64_t earlier = count.value();
      count.report(reports.back().instances, now);
      REQUIRE(count.value() >= highest(reports, now - ReplicaCount::falls_after));
      if (count.value() < earlier) {
        REQUIRE(now - unbroken_since >= ReplicaCount::falls_after);
        REQUIRE(count.value() <=
                highest(reports, now - ReplicaCount::falls_after - ReplicaCount::longest_pause));
      }
      // Two periods and a report later only the reports of those periods count.
      const Duration long_enough = 2 * ReplicaCount::falls_after + 2 * ReplicaCount::longest_pause;
      if (now - unbroken_since >= long_enough)
        REQUIRE(count.value() <= highest(reports, now - long_enough));
    }
  }
}
