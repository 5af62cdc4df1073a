#include "usage/pointer_set.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::usage {
namespace {

std::vector<std::size_t> members(PointerSet set) {
  std::vector<std::size_t> found;
  for_each_pointer(set, [&](std::size_t pointer) { found.push_back(pointer); });
  return found;
}

TEST_CASE("a set has the pointers that were put into it, in order") {
  CHECK(members(0).empty());
  CHECK(members(only(7)) == std::vector<std::size_t>{7});
  CHECK(members(only(31) | only(0) | only(12)) == std::vector<std::size_t>{0, 12, 31});
  const PointerSet set = only(0) | only(most_pointers - 1);
  for (std::size_t pointer = 0; pointer < most_pointers; ++pointer)
    CHECK(contains(set, pointer) == (pointer == 0 || pointer == 31));
}

TEST_CASE("a part of a set is chosen by a predicate") {
  const PointerSet set = only(1) | only(2) | only(3) | only(30);
  const auto is_even = [](std::size_t pointer) { return pointer % 2 == 0; };
  CHECK(those_of(set, is_even) == (only(2) | only(30)));
  CHECK(those_of(0, is_even) == 0);
}

}  // namespace
}  // namespace weir::usage
