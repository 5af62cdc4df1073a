// The counts that a scanner has found so far, by pointer.
#pragma once

#include <array>
#include <cstdint>

#include "usage/pointer_set.hpp"

namespace weir::usage {

struct Findings {
  std::array<std::int64_t, most_pointers> counts{};  ///< valid for `found`
  PointerSet found = 0;
  /// Pointers that led to a value that is not a count, in some document.
  PointerSet not_counts = 0;
  /// Pointers whose last value may be missing here: a document was truncated or malformed, and no
  /// complete one after it had a count.
  PointerSet doubtful = 0;
};

}  // namespace weir::usage
