// The entries of attributed windows, for the admin API.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "rules/attributed_window.hpp"
#include "store/error.hpp"

namespace weir::store {

/// Entries that are shown of one key.
inline constexpr std::size_t most_entries_shown = 100;

struct EntryReport {
  Error error = Error::none;
  /// The entries of the window in progress, the newest last. Their instants are on the clock of the
  /// store.
  std::vector<rules::AttributedEntry> entries{};
  bool is_complete = true;  ///< false: the window has older ones, too
};

/// Reads the entries that a shared store has. Reports once, later, on the loop of the caller.
class EntryReader {
 public:
  using Done = std::function<void(EntryReport)>;

  /// `policy`: the name of a policy with an attributed window. A key without entries has none.
  virtual void read_entries(const Hash128& identity, const std::string& policy, Done done) = 0;

 protected:
  ~EntryReader() = default;
};

}  // namespace weir::store
