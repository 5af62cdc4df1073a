// The identifiers of a client's streams (RFC 9113 section 5.1.1): which of them were skipped, and
// so closed without use by a stream with a higher one.
//
// nghttp2 ignores a head on such a stream, which is a fault of the connection. A client that skips
// identifiers is rare, so few gaps are remembered. Pure; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::http2 {

class StreamIds {
 public:
  /// A head came with this identifier. True if it is higher than all before, so that it opens a
  /// stream.
  bool note(std::int32_t id) {
    if (id <= newest_) return false;
    if (id > newest_ + 2) {
      if (skipped_.size() == most_gaps) skipped_.erase(skipped_.begin());
      skipped_.emplace_back(newest_, id);
    }
    newest_ = id;
    return true;
  }
  bool was_skipped(std::int32_t id) const {
    return std::ranges::any_of(skipped_,
                               [id](const auto& gap) { return id > gap.first && id < gap.second; });
  }

 private:
  static constexpr std::size_t most_gaps = 16;

  std::int32_t newest_ = -1;
  std::vector<std::pair<std::int32_t, std::int32_t>> skipped_;  ///< between the two, newest last
};

}  // namespace weir::http2
