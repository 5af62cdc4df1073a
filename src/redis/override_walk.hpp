// The walk over the keys of all overrides with SCAN: pages in, identities to read out. SCAN may
// return a key more than once, so identities that an earlier page had are left out.
//
// Pure.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"

namespace weir::redis {

class OverrideWalk {
 public:
  /// Bounds of one walk.
  static constexpr int most_pages = 10'000;
  static constexpr std::size_t most_identities = 10'000;

  bool has_next() const {
    return !is_complete_ && !is_stopped_ && pages_ < most_pages && found_.size() < most_identities;
  }
  /// The cursor of the next page.
  const std::string& cursor() const { return cursor_; }
  /// Takes a page: the cursor of the next one and the identities of its keys. Returns those that
  /// are new.
  std::vector<Hash128> take(std::string_view next_cursor, std::span<const Hash128> identities);
  /// There is no next page.
  void stop() { is_stopped_ = true; }
  /// Whether all pages were taken.
  bool is_complete() const { return is_complete_; }

 private:
  std::string cursor_ = "0";
  std::set<Hash128> found_;
  int pages_ = 0;
  bool is_complete_ = false;
  bool is_stopped_ = false;
};

}  // namespace weir::redis
