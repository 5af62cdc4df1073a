// The stores between the limiter and a remote store, in their order:
//
//   denials -> single flight -> fallback(circuit breaker(remote), local shares)
//
// Belongs to one worker and is used on its loop only; the memory store is shared by all.
#pragma once

#include <cstdint>

#include "store/circuit_breaker.hpp"
#include "store/denial_confirmation.hpp"
#include "store/denials.hpp"
#include "store/fallback.hpp"
#include "store/single_flight.hpp"

namespace weir::store {

struct ChainOptions {
  Duration timeout{0};  ///< of one decision, including the time in queues
  int breaker_failures = 1;
  Duration breaker_retry_after{0};
  std::uint64_t seed = 0;  ///< of the denial memory's hash; random in production
};

class Chain {
 public:
  Chain(RemoteStore& remote, MemoryStore& local, const ChainOptions& options,
        ChainCounters& counters)
      : counters_(counters),
        memory_(remembered_sets, options.seed, DenialConfirmation::lease),
        confirmation_(remote, memory_),
        known_(memory_, counters_, &confirmation_),
        breaker_(remote,
                 {.timeout = options.timeout,
                  .failures = options.breaker_failures,
                  .retry_after = options.breaker_retry_after},
                 counters_),
        fallback_(breaker_, local, options.timeout, counters_),
        single_flight_(
            fallback_,
            {.memory = memory_, .known = known_, .breaker = breaker_, .timeout = options.timeout}),
        denials_(single_flight_, known_) {}

  /// The first link, for the limiter.
  Store& front() { return denials_; }
  /// See NodeControl.
  void set_breaker(int failures, Duration retry_after) { breaker_.set(failures, retry_after); }
  /// To be called with every tick of the worker: see CircuitBreaker and DenialConfirmation.
  void probe(Instant now) {
    breaker_.probe(now);
    confirmation_.begin(now);
  }
  NodeControl::State breaker() const { return breaker_.state(); }
  const ChainCounters& counters() const { return counters_; }
  Error last_error() const { return breaker_.last_error(); }

 private:
  static constexpr std::size_t remembered_sets = 1024;  // of four keys each, 1 MiB a worker

  ChainCounters& counters_;
  DenialMemory memory_;
  DenialConfirmation confirmation_;
  KnownDenials known_;
  CircuitBreaker breaker_;
  Fallback fallback_;
  SingleFlight single_flight_;
  Denials denials_;
};

}  // namespace weir::store
