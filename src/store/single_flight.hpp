// A link of the chain: when a denial expires, one request asks Redis, and later ones with the same
// demand wait for its answer, which is usually another denial.
//
// No request waits for one that arrived later, whose answer may exceed its own timeout, or while
// the store is not connected or the breaker not closed. When the answer arrives, a waiting request
// is decided again: it is denied by a remembered denial, or it asks or waits again. Belongs to one
// worker.
#pragma once

#include "store/circuit_breaker.hpp"
#include "store/flight.hpp"
#include "store/known_denials.hpp"
#include "store/link.hpp"
#include "store/reused.hpp"

namespace weir::store {

class SingleFlight final : public Link {
 public:
  struct Surroundings {
    DenialMemory& memory;  ///< contains the flights that ask
    KnownDenials& known;
    const CircuitBreaker& breaker;
    Duration timeout;  ///< of a decision, from Acquisition::arrived_at
  };
  SingleFlight(Store& next, const Surroundings& surroundings) : Link(next), with_(surroundings) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;

 private:
  friend struct Flight;
  /// The flights for the demands of one acquisition.
  struct Found {
    Flight* asking = nullptr;                  ///< the flight to wait for
    std::optional<DenialMemory::Key> expired;  ///< else, a demand without a flight
  };

  Found look_up(const Acquisition& acquisition, Instant now);
  std::optional<Result> ask(Acquisition& acquisition, Completion& completion,
                            const DenialMemory::Key& expired, Instant now);
  void land(Flight& flight, const Result& result, Instant now);
  void decide_again(Flight& waiting, Instant now);
  std::optional<Result> recall_or_acquire(Acquisition& acquisition, Completion& completion,
                                          Instant now) noexcept;

  Surroundings with_;
  Reused<Flight> flights_;
};

}  // namespace weir::store
