// Results of verifications, by a keyed hash of the whole token.
//
// Bounded: valid and rejected tokens have a table each, so invented tokens displace no valid one. A
// table keeps at least half of its entries, those used last. An entry dies with its token's
// validity; the owner clears the cache when the keys change. Time is an argument. Belongs to one
// worker.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "jwt/verify.hpp"

namespace weir::jwt {

/// Values of the keys that were used last. Two tables: a key that is found in the older one moves
/// to the newer one, and when that is full, it becomes the older one. Only that allocates in a
/// look-up.
template <class Value>
class RecentTable {
 public:
  /// `most`: at least 2.
  explicit RecentTable(std::size_t most) : half_(most / 2) {}

  /// The value stays in its place until the next insert() or clear().
  Value* find(const Hash128& key) {
    if (const auto at = newer_.find(key); at != newer_.end()) return &at->second;
    auto node = older_.extract(key);
    if (node.empty()) return nullptr;
    make_room();
    return &newer_.insert(std::move(node)).position->second;
  }
  Value& insert(const Hash128& key, Value value) {
    make_room();
    return newer_.insert_or_assign(key, std::move(value)).first->second;
  }
  void erase(const Hash128& key) { newer_.erase(key); }
  void clear() {
    newer_.clear();
    older_.clear();
  }
  std::size_t size() const { return newer_.size() + older_.size(); }

 private:
  struct Low {  // the key is a keyed hash already
    std::size_t operator()(const Hash128& key) const { return key.low; }
  };
  using Table = std::unordered_map<Hash128, Value, Low>;

  void make_room() {
    if (newer_.size() < half_) return;
    older_ = std::exchange(newer_, {});
    newer_.reserve(half_);
  }

  std::size_t half_;
  Table newer_, older_;
};

/// `Valid`: the result that is kept for a valid token. Its member valid_until() returns a
/// ValidUntil.
template <class Valid>
class VerificationCache {
 public:
  /// The most entries of each table.
  static constexpr std::size_t most_valid = 8'192;
  static constexpr std::size_t most_rejected = 1'024;

  /// nullptr: not known, or no longer valid. The result stays in its place until the next call.
  const Valid* find_valid(const Hash128& token, Instant now) {
    const Valid* const found = valid_.find(token);
    if (found == nullptr || !found->valid_until() || now < *found->valid_until()) return found;
    valid_.erase(token);
    return nullptr;
  }
  std::optional<Rejection> find_rejected(const Hash128& token) {
    const Rejection* const found = rejected_.find(token);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  const Valid& add(const Hash128& token, Valid valid) {
    return valid_.insert(token, std::move(valid));
  }
  /// Does nothing for a reason that may end without a change of the keys.
  void add(const Hash128& token, Rejection reason) {
    if (reason == Rejection::not_yet_valid || reason == Rejection::issued_in_future) return;
    rejected_.insert(token, reason);
  }
  void clear() {
    valid_.clear();
    rejected_.clear();
  }
  std::size_t size() const { return valid_.size() + rejected_.size(); }

 private:
  RecentTable<Valid> valid_{most_valid};
  RecentTable<Rejection> rejected_{most_rejected};
};

}  // namespace weir::jwt
