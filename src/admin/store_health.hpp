// Whether Redis decides, and what keeps it from doing so: told by the workers, read by the admin
// server and the log. Thread-safe; told only when something changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "redis/receiver.hpp"

namespace weir::admin {

/// The store as one worker sees it.
struct StoreSight {
  bool connected = false;
  bool deciding = false;  ///< connected, and its answers are good
  std::string trouble{};  ///< why it is not, in words for a person; never a secret
  friend bool operator==(const StoreSight&, const StoreSight&) = default;
};

class StoreHealth {
 public:
  enum class Change : std::uint8_t { none, lost, back };

  /// Until a worker has told, it is not connected, and nothing is wrong with that.
  explicit StoreHealth(std::size_t workers) : workers_(workers, {.deciding = true}) {}

  /// What it means for the process: the first worker to lose Redis, or the last to have it back.
  Change tell(std::size_t worker, StoreSight sight);

  /// Whether the log is to tell of an error that Redis answered with: no more than once a minute
  /// for each kind, whichever worker met it.
  bool is_news(redis::StoreError error, Instant now);

  bool is_connected() const;  ///< all workers are
  /// What is wrong; empty if nothing.
  std::string trouble() const;

 private:
  bool is_deciding() const;

  mutable std::mutex mutex_;
  std::vector<StoreSight> workers_;
  std::array<std::optional<Instant>, redis::store_error_count> told_at_;
};

}  // namespace weir::admin
