// A link of the chain: when a denial expires, one request asks Redis. So does one if the state of
// another limit of a denied request is unknown. Later requests of the same denied key wait for its
// answer, which is usually another denial.
//
// A denial of a policy with count_rejected is charged, so it is never repeated without asking. Such
// requests with the same keys wait for each other, too. The equal ones among those that wait are
// rejected by one further question, which charges for all of them.
//
// No request waits for one that arrived later, whose answer may exceed its own timeout, or while
// the store is not connected or the breaker not closed. When the answer arrives, a waiting request
// is decided again: it is denied by a remembered denial, or it asks or waits again. Belongs to one
// worker.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ring.hpp"
#include "store/denial_memory.hpp"
#include "store/guarded_store.hpp"
#include "store/known_denials.hpp"
#include "store/link.hpp"
#include "store/reused.hpp"
#include "store/store.hpp"

namespace weir::store {

class SingleFlight;

/// An acquisition in the single flight link: it asks the next store, or waits for another that
/// does.
///
/// Waiting acquisitions form a ring with the one that asks, in order of arrival.
struct Flight final : Completion, Ring<Flight> {
  explicit Flight(SingleFlight& its_link) : link(its_link) {}
  void complete(const Result& result, Instant now) noexcept override;

  SingleFlight& link;
  Acquisition* acquisition = nullptr;
  Completion* caller = nullptr;
  DenialMemory::Key key;   ///< of an acquisition that asks; others wait for its answer
  bool is_merged = false;  ///< it waits, and is rejected together with the one that asks
};

class SingleFlight final : public Link {
 public:
  struct Dependencies {
    DenialMemory& memory;  ///< contains the flights that ask
    KnownDenials& known;
    const GuardedStore& remote;
    Duration timeout;  ///< of a decision, from Acquisition::arrived_at
  };
  SingleFlight(Store& next, const Dependencies& dependencies) : Link(next), with_(dependencies) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;

 private:
  friend struct Flight;
  /// The flights for the demands of one acquisition.
  struct Found {
    Flight* asking = nullptr;       ///< the flight to wait for
    const Claim* denied = nullptr;  ///< else, a claim without a flight
  };

  Found look_up(const Acquisition& acquisition, Instant now);
  bool may_wait_for(const Flight& asking, const Acquisition& acquisition) const;
  std::optional<Result> ask(Acquisition& acquisition, Completion& completion, const Claim& denied,
                            Instant now);
  void land(Flight& flight, const Result& result, Instant now);
  void complete(Flight& flight, const Result& result, Instant now);
  void decide_again(Flight& first, Flight* group, Instant now);
  std::uint32_t equal_in_group(const Acquisition& acquisition) const;
  void merge_group(Flight& asking);
  std::optional<Result> recall_or_acquire(Acquisition& acquisition, Completion& completion,
                                          Instant now) noexcept;

  Dependencies with_;
  Reused<Flight> flights_;
  Flight* sent_ = nullptr;   ///< the flight whose question was sent last
  Flight* group_ = nullptr;  ///< during a call: those that its question may reject, too
};

}  // namespace weir::store
