// The sources of the cost of a request that only a message states (`cost_from`), compiled once when
// the configuration is loaded: entries in order, and every JSON pointer once. The first entry that
// has a value is charged; an entry with several pointers has the sum of their values, if all have
// one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "usage/json_pointer.hpp"
#include "usage/pointer_set.hpp"

namespace weir::usage {

/// One element of the list in the configuration: a field name or pointers.
struct UsageSource {
  std::string field{};                  ///< of the message; empty: the pointers
  std::vector<JsonPointer> pointers{};  ///< into a JSON body
};

class UsagePlan {
 public:
  static constexpr std::size_t most_entries = 8;

  struct Entry {
    std::string field;        ///< empty: the pointers
    PointerSet pointers = 0;  ///< of pointers()
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// The problem is a message for the author of the configuration.
  static Result<UsagePlan> compile(std::span<const UsageSource> sources);

  std::span<const Entry> entries() const { return entries_; }
  std::span<const JsonPointer> pointers() const { return pointers_; }
  friend bool operator==(const UsagePlan&, const UsagePlan&) = default;

 private:
  PointerSet add(const JsonPointer& pointer);

  std::vector<Entry> entries_;
  std::vector<JsonPointer> pointers_;
};

}  // namespace weir::usage
