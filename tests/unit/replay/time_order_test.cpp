// The order in which the requests of a log are decided.
#include "replay/time_order.hpp"

#include "catch.hpp"

namespace weir::replay {
namespace {

Instant at_second(std::int64_t seconds) {
  return Instant{std::chrono::seconds(seconds)};
}

void add_at(TimeOrder& order, std::int64_t seconds, int status) {
  Arrival& arrival = order.storage();
  arrival.at = at_second(seconds);
  arrival.status = status;
  order.add(arrival, arrival.at);
}

std::vector<int> taken(TimeOrder& order, bool is_end) {
  std::vector<int> statuses;
  while (const Arrival* const next = order.next(is_end))
    statuses.push_back(*next->status);
  return statuses;
}

}  // namespace

TEST_CASE("requests wait until the log is a window ahead") {
  TimeOrder order;
  add_at(order, 100, 1);
  add_at(order, 130, 2);
  add_at(order, 110, 3);
  CHECK(taken(order, false).empty());
  add_at(order, 161, 4);
  CHECK(taken(order, false) == std::vector{1});
  add_at(order, 105, 5);
  CHECK(taken(order, false).empty());
  CHECK(taken(order, true) == std::vector{5, 3, 2, 4});
}

TEST_CASE("requests of one instant stay in the order of their lines") {
  TimeOrder order;
  for (int i = 0; i < 50; ++i)
    add_at(order, 7, i);
  std::vector<int> lines(50);
  for (int i = 0; i < 50; ++i)
    lines[static_cast<std::size_t>(i)] = i;
  CHECK(taken(order, true) == lines);
}

TEST_CASE("a time that the log has not reached makes no other request late") {
  TimeOrder order;
  Arrival& wrong = order.storage();
  wrong.at = at_second(1'000'000);
  wrong.status = 1;
  order.add(wrong, at_second(100));
  add_at(order, 130, 2);
  add_at(order, 120, 3);
  CHECK(taken(order, false).empty());
  REQUIRE(order.next(true)->status == 3);
  CHECK_FALSE(order.is_ahead());
  CHECK(order.next(true)->status == 2);
  CHECK(order.next(true)->status == 1);
  CHECK(order.is_ahead());
}

TEST_CASE("no more than the bound wait, and one that is late is passed on at once") {
  TimeOrder order({.requests = 2});
  add_at(order, 1, 1);
  add_at(order, 2, 2);
  CHECK(taken(order, false).empty());
  add_at(order, 3, 3);
  CHECK(taken(order, false) == std::vector{1});
  add_at(order, 100, 4);
  CHECK(taken(order, false) == std::vector{2, 3});
  add_at(order, 5, 5);
  CHECK(taken(order, false) == std::vector{5});
}

}  // namespace weir::replay
