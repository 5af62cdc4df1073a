// The embedded store: every key of this process, exact under any number of threads, bounded in
// keys.
//
// Sharded open-addressing tables on a seeded 64-bit hash with the state in the slot. A shard's
// mutex is held for the rules of one request only. A request's claims are decided together: the
// shards involved are locked in order, all claims are asked, then all charged or none. Time is
// monotone within a shard whatever instants callers bring. Expired keys are reclaimed a few slots
// at a time by the calls themselves; no thread walks the table. At the bound an insertion evicts:
// whole keys first, then the soonest whole, a key that is being denied last. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"
#include "store/key_hash.hpp"

namespace weir::store {

class Shard;

struct MemoryStoreOptions {
  std::size_t max_keys = 1'000'000;
  std::uint64_t seed = 0;  ///< of the key hash; random in production, fixed in tests
};

class MemoryStore {
 public:
  explicit MemoryStore(const MemoryStoreOptions& options);
  ~MemoryStore();
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  /// Decides all claims together at `now`: true if the request is admitted. decisions[i] answers
  /// claims[i]; at most claims_per_request of them. Admitted: every non-shadow claim allowed; then
  /// those and each shadow claim that allows are charged. What a policy with count_rejected does
  /// not admit, by itself or because the request is denied, is charged to it all the same; an
  /// allowed claim then has a retry_after if the same demand would not pass again at once.
  /// Several claims on one key see each other.
  bool acquire(std::span<const Claim> claims, Instant now, std::span<rules::Decision> decisions);

  /// The key's next request finds a fresh state.
  void forget(const Hash128& identity, std::uint32_t policy_id);

  std::size_t keys() const;                ///< live and not yet reclaimed
  std::uint64_t evictions() const;         ///< keys with use that were dropped at the bound
  std::uint64_t denied_evictions() const;  ///< of those, keys that were being denied

 private:
  KeyHash key_hash_;
  std::vector<std::unique_ptr<Shard>> shards_;  ///< a power of two
};

}  // namespace weir::store
