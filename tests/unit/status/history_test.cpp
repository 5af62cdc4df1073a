#include "status/history.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace weir::status {
namespace {

struct Entry {
  std::string name{};
  int count = 0;

  bool operator==(const Entry&) const = default;
};

using Pairs = std::vector<std::pair<int, int>>;

/// The counts at the two earlier instants, by place; {-1, -1}: not changed.
Pairs earlier_of(const History<Entry>& list) {
  Pairs pairs(list.now().size(), {-1, -1});
  for (const auto& one : list.changed()) {
    CHECK(list.is_changed(one.place));
    pairs[one.place] = {one.base.count, one.next.count};
  }
  return pairs;
}

constexpr std::pair<int, int> same{-1, -1};

History<Entry> list_of_three() {
  History<Entry> list;
  list.replace({{"a", 1}, {"b", 2}, {"c", 3}});
  list.restart();
  return list;
}

TEST_CASE("an entry keeps its values at two instants while it differs from them") {
  auto list = list_of_three();
  CHECK(earlier_of(list) == Pairs{same, same, same});
  list.set(1, {"b", 20});
  list.set(1, {"b", 21});
  CHECK(list.now()[1].count == 21);
  CHECK(earlier_of(list) == Pairs{same, {2, 2}, same});
  list.advance();
  list.set(2, {"c", 30});
  CHECK(earlier_of(list) == Pairs{same, {2, 21}, {3, 3}});
  list.advance();
  CHECK(earlier_of(list) == Pairs{same, same, {3, 30}});
  list.advance();
  CHECK(earlier_of(list) == Pairs{same, same, same});
}

TEST_CASE("the first instant can become the second one") {
  auto list = list_of_three();
  list.set(0, {"a", 10});
  list.advance();
  list.set(1, {"b", 20});
  list.join();
  CHECK(earlier_of(list) == Pairs{same, {2, 2}, same});
  list.restart();
  CHECK(earlier_of(list) == Pairs{same, same, same});
}

TEST_CASE("other entries keep the earlier values of their names") {
  auto list = list_of_three();
  list.set(0, {"a", 10});
  list.advance();
  list.set(0, {"a", 11});
  list.replace({{"new", 7}, {"c", 3}, {"a", 12}, {"b", 5}});
  CHECK(earlier_of(list) == Pairs{{0, 0}, same, {1, 10}, {2, 2}});
}

}  // namespace
}  // namespace weir::status
