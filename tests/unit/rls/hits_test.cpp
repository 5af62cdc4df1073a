// The counts of RateLimitCall::count_hits().
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {

TEST_CASE("Hits are counted as within, near and over their limit") {
  Service service;
  service.limit("a", 10);
  auto& shadow = service.limit("s", 10);
  shadow.shadow_mode = service.policy_of(shadow).shadow = true;
  service.limit("none", 0);
  const auto ask = [&](const std::string& key, std::uint64_t hits) {
    service.ask({{{{key, "1"}}, hits}});
    service.call.count_hits(service.names);
  };
  const auto counted = [&](std::size_t policy) {
    const HitCounters& hits = service.limiter->policies()[policy].counters->hits;
    return std::vector<std::uint64_t>{hits.total.value(), hits.within.value(), hits.near.value(),
                                      hits.over.value(), hits.shadow.value()};
  };
  using Counts = std::vector<std::uint64_t>;
  ask("a", 7);
  CHECK(counted(1) == Counts{7, 7, 0, 0, 0});
  ask("a", 2);  // the ninth is above 80 percent
  CHECK(counted(1) == Counts{9, 9, 1, 0, 0});
  ask("a", 4);  // one fits
  CHECK(counted(1) == Counts{13, 9, 2, 3, 0});
  ask("a", 1);
  CHECK(counted(1) == Counts{14, 9, 2, 4, 0});
  ask("a", 0);
  CHECK(counted(1) == Counts{14, 9, 2, 4, 0});
  ask("s", 12);
  CHECK(counted(2) == Counts{12, 0, 2, 2, 2});
  ask("s", 12);  // the limit has been used up
  CHECK(counted(2) == Counts{24, 0, 2, 14, 14});
  ask("none", 3);
  CHECK(counted(3) == Counts{3, 0, 0, 3, 0});
}

TEST_CASE("Hits that cross the near limit or the limit are counted on both sides") {
  // Before and asked, then what is counted of them as within, near and over: the limit is 10.
  struct Row {
    std::uint64_t before, hits, within, near, over;
  };
  const Row rows[] = {
      {0, 8, 8, 0, 0}, {0, 9, 9, 1, 0}, {0, 10, 10, 2, 0}, {7, 1, 1, 0, 0},  {7, 3, 3, 2, 0},
      {8, 1, 1, 1, 0}, {9, 1, 1, 1, 0}, {8, 2, 2, 2, 0},   {0, 11, 0, 2, 1}, {7, 5, 0, 2, 2},
      {8, 5, 0, 2, 3}, {9, 5, 0, 1, 4}, {10, 1, 0, 0, 1},  {10, 5, 0, 0, 5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before, row.hits);
    Service service;
    service.limit("a", 10);
    if (row.before > 0) service.ask({{{{"a", "1"}}, row.before}});  // not counted
    service.ask({{{{"a", "1"}}, row.hits}});
    service.call.count_hits(service.names);
    const HitCounters& counters = service.limiter->policies()[1].counters->hits;
    CHECK(counters.total.value() == row.hits);
    CHECK(counters.within.value() == row.within);
    CHECK(counters.near.value() == row.near);
    CHECK(counters.over.value() == row.over);
  }
}

TEST_CASE("Hits are counted by name where the file says so, as long as there is room") {
  for (const bool has_metrics : {true, false}) {
    Service service;
    service.options.reference_metrics = has_metrics;
    service.limit("a", 10).detailed_metric = true;
    service.limit("b", 10);
    const auto ask = [&](const char* key, const char* value) {
      service.ask({{{{key, value}}, 3}});
      service.call.count_hits(service.names);
    };
    const auto total_of = [&](std::size_t policy) {
      return service.limiter->policies()[policy].counters->hits.total.value();
    };
    const auto named = [&] {
      std::string all;
      service.names.each([&](std::string_view name, const HitCounters& hits) {
        all.append(name).append(1, ' ').append(std::to_string(hits.total.value())).append(1, ' ');
      });
      return all;
    };
    ask("a", "x");
    ask("a", "y:z");
    ask("a", "x");
    ask("b", "x");
    CHECK(named() == (has_metrics ? "d.a_y_z 3 d.a_x 6 " : ""));
    CHECK(total_of(1) == (has_metrics ? 0 : 9));
    CHECK(total_of(2) == 3);
    for (int other = 0; service.names.find_or_add(std::to_string(other)) != nullptr;)
      ++other;
    ask("a", "new");
    CHECK(total_of(1) == (has_metrics ? 3 : 12));
  }
}

TEST_CASE("The near limit is computed in 32 bits") {
  // 0.29 * 100 is 28.999999999999996 in 64 bits.
  Service service;
  service.options.near_limit_ratio = 0.29;
  service.limit("a", 100);
  service.ask({{{{"a", "1"}}, 30}});
  service.call.count_hits(service.names);
  CHECK(service.limiter->policies()[1].counters->hits.near.value() == 1);
}

}  // namespace weir::rls::test
