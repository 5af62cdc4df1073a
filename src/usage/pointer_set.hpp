// A set of JSON pointers of one plan, by their position in it: a bit each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::usage {

using PointerSet = std::uint32_t;
inline constexpr std::size_t most_pointers = 32;

constexpr PointerSet only(std::size_t pointer) {
  return PointerSet{1} << pointer;
}

constexpr bool contains(PointerSet set, std::size_t pointer) {
  return (set >> pointer & 1) != 0;
}

/// Calls visit(pointer) for each pointer of the set, in order.
template <class Visitor>
constexpr void for_each_pointer(PointerSet set, Visitor&& visit) {
  for (; set != 0; set &= set - 1)
    visit(static_cast<std::size_t>(std::countr_zero(set)));
}

/// Returns the pointers of the set for which `holds`.
template <class Predicate>
constexpr PointerSet those_of(PointerSet set, Predicate&& holds) {
  PointerSet chosen = 0;
  for_each_pointer(set, [&](std::size_t pointer) {
    if (holds(pointer)) chosen |= only(pointer);
  });
  return chosen;
}

}  // namespace weir::usage
