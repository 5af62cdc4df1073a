// The stores between the limiter and a remote store, in their order:
//
//   leases -> denials -> single flight -> [split requests] -> fallback(remote store, local shares)
//
// The remote store has a circuit breaker for each of its nodes. Requests are split if its keys are
// divided.
//
// Belongs to one worker and is used on its loop only; the memory store is shared by all.
#pragma once

#include <cstdint>
#include <memory>

#include "store/denial_confirmation.hpp"
#include "store/denials.hpp"
#include "store/fallback.hpp"
#include "store/guarded_store.hpp"
#include "store/leases.hpp"
#include "store/single_flight.hpp"
#include "store/split_requests.hpp"

namespace weir::store {

struct ChainOptions {
  Duration timeout{0};     ///< of one decision, including the time in queues
  std::uint64_t seed = 0;  ///< of the denial memory's hash; random in production
  /// Sets of four keys, a power of two: for the denials (1 KiB a set) and, if used, for the leases
  /// (1.5 KiB).
  std::size_t table_sets = 1024;
};

class Chain {
 public:
  /// `divisions`: of the keys of `remote`; nullptr: it decides any claims in one call.
  Chain(GuardedStore& remote, MemoryStore& local, const ChainOptions& options,
        ChainCounters& counters, const Divisions* divisions = nullptr)
      : counters_(counters),
        memory_(options.table_sets, options.seed, DenialConfirmation::lease),
        confirmation_(remote, memory_),
        known_(memory_, counters_, &confirmation_),
        remote_(remote),
        fallback_(remote, local, options.timeout, counters_),
        split_(divisions == nullptr ? nullptr
                                    : std::make_unique<SplitRequests>(fallback_, *divisions)),
        single_flight_(
            split_ ? static_cast<Store&>(*split_) : fallback_,
            {.memory = memory_, .known = known_, .remote = remote, .timeout = options.timeout}),
        denials_(single_flight_, known_),
        leases_(denials_, remote, options.timeout, options.seed, counters_, options.table_sets) {}

  /// The first link, for the limiter.
  Store& front() { return leases_; }
  /// No keys are leased before Leases::use().
  Leases& leases() { return leases_; }
  const Leases& leases() const { return leases_; }
  /// To be called with every tick of the worker: see GuardedStore, DenialConfirmation and Leases.
  void probe(Instant now) {
    remote_.probe(now);
    confirmation_.begin(now);
    leases_.tick(now);
  }
  const ChainCounters& counters() const { return counters_; }

 private:
  ChainCounters& counters_;
  DenialMemory memory_;
  DenialConfirmation confirmation_;
  KnownDenials known_;
  GuardedStore& remote_;
  Fallback fallback_;
  std::unique_ptr<SplitRequests> split_;
  SingleFlight single_flight_;
  Denials denials_;
  Leases leases_;
};

}  // namespace weir::store
