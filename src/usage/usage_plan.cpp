#include "usage/usage_plan.hpp"

#include <algorithm>
#include <utility>

namespace weir::usage {

Result<UsagePlan> UsagePlan::compile(std::span<const UsageSource> sources) {
  if (sources.empty()) return Problem{"expected at least one source: a header or a JSON pointer"};
  if (sources.size() > most_entries)
    return Problem{"at most " + std::to_string(most_entries) + " sources are tried"};
  UsagePlan plan;
  for (const UsageSource& source : sources) {
    if (source.field.empty() == source.pointers.empty())
      return Problem{"a source is either a header or one or more JSON pointers"};
    Entry entry{.field = source.field};
    for (const JsonPointer& pointer : source.pointers) {
      const PointerSet bit = plan.add(pointer);
      if (bit == 0)
        return Problem{"at most " + std::to_string(most_pointers) +
                       " different JSON pointers are read"};
      if ((entry.pointers & bit) != 0)
        return Problem{"the JSON pointer " + pointer.text() + " is listed twice in one sum"};
      entry.pointers |= bit;
    }
    plan.entries_.push_back(std::move(entry));
  }
  return plan;
}

/// Returns the set of this pointer only, or none if there are too many.
PointerSet UsagePlan::add(const JsonPointer& pointer) {
  const auto known = std::find(pointers_.begin(), pointers_.end(), pointer);
  const auto position = static_cast<std::size_t>(known - pointers_.begin());
  if (position == most_pointers) return 0;
  if (known == pointers_.end()) pointers_.push_back(pointer);
  return only(position);
}

}  // namespace weir::usage
