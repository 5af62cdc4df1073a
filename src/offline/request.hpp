// One request of an offline instance: what it is, how it was decided, and what it holds.
//
// Owned by its instance and reused. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "decision/decision.hpp"
#include "decision/slot_wait_machine.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "limiter/slot_queue.hpp"

namespace weir::offline {

class Instance;

class Request final : public limiter::QueueTicket {
 public:
  enum class State : std::uint8_t {
    malformed,  ///< refused by its head: refusal()
    unrouted,   ///< refused with its routes, or before it is decided: refusal()
    waiting,    ///< for a slot
    decided,    ///< verdict()
  };

  State state() const { return state_; }
  const std::optional<http::Refusal>& refusal() const { return refusal_; }
  /// The bytes of its head.
  std::string_view head() const { return head_; }
  const http::ReceivedRequest& received() const { return received_; }
  const decision::Decision& decision() const { return decision_; }
  /// The verdict on a request that is decided. A request without limits has the outcome unlimited.
  const limiter::Verdict& verdict() const { return is_limited_ ? decision_.verdict() : unlimited_; }
  /// The routes and the services behind them may receive it.
  bool is_admitted() const {
    return state_ == State::decided && (verdict().outcome == limiter::Outcome::allowed ||
                                        verdict().outcome == limiter::Outcome::unlimited);
  }
  /// True if a limiter has decided: then the evaluation is that of this request.
  bool is_limited() const { return is_limited_; }
  /// True if one of its limits holds units. A denied request owns none of them.
  bool holds_units() const { return is_limited_ && decision_.evaluation().has_holds; }

  Instant arrived_at() const { return arrived_at_; }
  /// When it got its verdict.
  Instant decided_at() const { return decided_at_; }
  /// When an admitted request is forwarded or answered: after the delay of a leaky bucket.
  Instant passed_at() const { return decided_at_ + verdict().delay; }
  /// The caller's number of the request.
  std::uint64_t label() const { return label_; }

 private:
  friend class Instance;
  explicit Request(std::vector<Request*>& called) : called_(called) {}
  ~Request() override { machine_.reset(); }
  struct Delete {
    void operator()(Request* request) const { delete request; }
  };

  /// With the queue locked: the instance resumes the request later.
  bool call() noexcept override;
  /// The step that the caller has stated for one that is due at this instant.
  std::optional<Instant> step_after(Instant due) const;

  std::vector<Request*>& called_;  ///< of the instance
  std::string head_;
  http::ReceivedRequest received_;  ///< views the head
  std::optional<http::Refusal> refusal_;
  decision::Decision decision_;
  limiter::Verdict unlimited_;
  std::optional<decision::SlotWaitMachine> machine_;  ///< destroyed before the evaluation
  State state_ = State::malformed;
  bool is_limited_ = false;
  Instant arrived_at_{};
  Instant decided_at_{};
  std::uint64_t label_ = 0;
  std::vector<Instant> steps_;  ///< Arrival::steps
  Duration latest_step_{0};     ///< Arrival::latest_step
  Instant stepped_at_{};        ///< its latest step
  // The last event of each kind; earlier ones do not count any more.
  std::uint64_t wait_number_ = 0;
  std::uint64_t end_number_ = 0;
};

}  // namespace weir::offline
