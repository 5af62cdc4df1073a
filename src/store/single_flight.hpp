// A link of the chain: when a denial expires, one request asks Redis, and later ones with the same
// demand wait for its answer. That is another denial most often, or leaves nothing.
//
// Nobody waits for a request that arrived later, because its answer may take longer than there is
// time, nor while the connection or the breaker makes it uncertain that Redis answers. A waiting
// request is decided again when the answer is there: it is denied by what is remembered then, or it
// asks or waits again. Belongs to one worker.
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
    DenialMemory& memory;  ///< notes who asks
    KnownDenials& known;
    const CircuitBreaker& breaker;
    Duration timeout;  ///< of a decision, from Acquisition::arrived_at
  };
  SingleFlight(Store& next, const Surroundings& surroundings) : Link(next), with_(surroundings) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;

 private:
  friend struct Flight;
  /// The questions about the demands of one acquisition that are under way.
  struct Found {
    Flight* asking = nullptr;                  ///< wait for this one
    std::optional<DenialMemory::Key> expired;  ///< else, a demand that nobody asks about
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
