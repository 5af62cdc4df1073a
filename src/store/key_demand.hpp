// The demand for one key in the present period and the former one, by which a lease is sized
// (store/lease.hpp). Pure; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace weir::store {

class KeyDemand {
 public:
  /// A key with fewer requests in a period is not leased: it would cost as many calls.
  static constexpr std::uint32_t hot_requests = 8;

  /// A request for the key, also one that a lease cannot decide. A period lasts `duration`.
  void note_request(Instant now, Duration duration);
  /// The cost of a request that a lease can decide.
  void note(std::int64_t cost, Instant now);

  bool is_hot() const { return requests_ >= hot_requests || former_requests_ >= hot_requests; }
  /// Units of one period. The first ones of a key were counted before it was hot.
  std::int64_t units() const {
    return std::max({units_, former_units_, std::int64_t{hot_requests}});
  }
  Instant last_request() const { return last_request_; }
  Instant last_noted() const { return last_noted_; }

 private:
  Instant period_began_{};
  Instant last_request_{};
  Instant last_noted_{};
  std::uint32_t requests_ = 0;
  std::uint32_t former_requests_ = 0;
  std::int64_t units_ = 0;
  std::int64_t former_units_ = 0;
};

}  // namespace weir::store
