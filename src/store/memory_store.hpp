// The embedded store: every key of this process, exact under any number of threads, bounded in
// keys.
//
// Sharded open-addressing tables on a seeded 64-bit hash with the state in the slot. A shard's
// mutex is held for the rules of one request only. A request's claims are decided together: the
// shards involved are locked in order, all claims are asked, then all charged or none. Time is
// monotone within a shard whatever instants callers bring. Expired keys are reclaimed a few slots
// at a time by the calls themselves; no thread walks the table. At the bound an insertion evicts:
// whole keys first, then those that are whole soonest, keys that are being denied last. Keys that
// hold units stay: the table may grow beyond the bound by keys of requests in flight. Forgetting a
// key forgets its holds.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"
#include "store/entries.hpp"
#include "store/key_hash.hpp"
#include "store/override_table.hpp"
#include "store/store.hpp"

namespace weir::store {

class Shard;

struct MemoryStoreOptions {
  std::size_t max_keys = 1'000'000;
  std::uint64_t seed = 0;  ///< of the key hash; random in production, fixed in tests
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const MemoryStoreOptions& options);
  ~MemoryStore() override;

  /// Returns its result at once, as all calls below do.
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override;
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override;
  /// Charges under an override in force: its numbers, or nothing if it is unlimited. Lost: memory
  /// ran out, or a reload has given the key another algorithm.
  void settle(std::span<const Settlement> settlements, Instant now) override;

  /// As acquire(), without a completion. Returns whether the request is admitted; decisions[i]
  /// belongs to claims[i].
  bool decide(std::span<const Claim> claims, Instant now, std::span<rules::Decision> decisions);
  void forget(const Key& key);

  /// Reads the entries of an attributed window.
  EntryReport entries(const Key& key, const rules::Policy& policy, Instant now);

  /// The overrides that decide() reads. They are lost with the process.
  OverrideTable& overrides() { return overrides_; }

  /// Replaces the bound. Until it is met, each new key evicts at most two.
  void set_max_keys(std::size_t max_keys);

  std::size_t keys() const;                ///< in use, and expired ones not yet reclaimed
  std::uint64_t evictions() const;         ///< keys with use that were dropped at the bound
  std::uint64_t denied_evictions() const;  ///< of those, keys that were being denied
  std::uint64_t holds() const;             ///< units that are held now
  std::uint64_t settlements_lost() const;

 private:
  std::int64_t held_under(const Claim& claim);
  /// Returns false if the settlement cannot be applied.
  bool end(const Settlement& settlement, Instant now);

  KeyHash key_hash_;
  OverrideTable overrides_;
  std::atomic<std::uint64_t> settlements_lost_{0};
  std::vector<std::unique_ptr<Shard>> shards_;  ///< a power of two
};

}  // namespace weir::store
