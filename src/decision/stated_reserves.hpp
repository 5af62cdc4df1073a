// Finds what the body of a request states for the reserves of its limits. The body passes in
// pieces, before the decision.
//
// A body of more than 64 KiB states nothing, and neither does one in a format that is not read
// (usage/usage_scanner.hpp). Pure. Belongs to one request and is reused; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "http/received_request.hpp"
#include "limiter/request_evidence.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::decision {

/// The largest body that is read, in bytes as received.
inline constexpr std::size_t largest_stating_body = 64 * 1024;

class StatedReserves {
 public:
  /// Adds the numbers that the body will state to the evidence, still without values; this must
  /// outlive it. Returns true if the body is to be read.
  bool begin(const http::ReceivedRequest& request, limiter::RequestEvidence& evidence);
  void feed(std::string_view piece) {
    for (Sought& one : sought_)
      one.scanner.feed(piece);
  }
  /// Ends a whole body. Without this call the body states nothing.
  void finish();

 private:
  struct Sought {
    usage::UsageScanner scanner;
    std::size_t value;  ///< index into values_
  };

  std::vector<Sought> sought_;
  std::vector<std::optional<std::int64_t>> values_;  ///< one for each limit of each route
};

}  // namespace weir::decision
