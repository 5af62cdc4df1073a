// The plans of clients, by the keyed hash of their identity: the content of a plan file.
//
// Open addressing with linear probing at three quarters full, 18 bytes an entry: 24 bytes a client.
// Immutable once filled; then thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/siphash.hpp"

namespace weir::limiter {

class PlanTable {
 public:
  /// A plan that the file names and the configuration does not.
  static constexpr std::uint16_t unknown = 0xffff;

  /// A table without entries.
  PlanTable() = default;
  /// A table for at most `most` entries.
  explicit PlanTable(std::size_t most);

  /// Returns the plan of this client: `plan`, or another one that was added before.
  std::uint16_t add(const Hash128& client, std::uint16_t plan);
  std::optional<std::uint16_t> find(const Hash128& client) const {
    if (size_ == 0) return std::nullopt;
    const Entry& entry = entries_[place_of(client)];
    return entry.plan == unused ? std::nullopt : std::optional(entry.plan);
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return entries_.size() * sizeof(Entry); }
  friend bool operator==(const PlanTable& a, const PlanTable& b);

 private:
  static constexpr std::uint16_t unused = 0xfffe;

  using Words = std::array<std::uint16_t, 8>;
  struct Entry {
    Words client{};
    std::uint16_t plan = unused;
  };
  static_assert(sizeof(Entry) == 18);

  /// The entry of the client, or the unused one where it would be.
  std::size_t place_of(const Hash128& client) const;

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace weir::limiter
