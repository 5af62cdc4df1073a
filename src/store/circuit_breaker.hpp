// A link of the chain: sends no requests to the remote store after consecutive errors, but for one
// from time to time (store/breaker.hpp).
//
// A request that is not sent fails at once, with the last error. Belongs to one worker.
#pragma once

#include "store/breaker.hpp"
#include "store/chain_counters.hpp"
#include "store/link.hpp"
#include "store/remote_store.hpp"
#include "store/reused.hpp"

namespace weir::store {

class CircuitBreaker final : public Link {
 public:
  CircuitBreaker(RemoteStore& next, const Breaker& breaker, ChainCounters& counters)
      : Link(next), remote_(next), breaker_(breaker), counters_(counters), probe_(*this) {
    publish_state();
  }

  /// Writes Acquisition::asked_at if it sends the request.
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;

  /// To be called with every tick of the worker. If the last result of Redis was no decision, or
  /// the breaker is open, tests without a request whether Redis decides.
  void probe(Instant now);

  void set(int failures, Duration retry_after) { breaker_.set(failures, retry_after); }

  /// Connected, and the breaker is closed.
  bool is_trusted() const {
    return remote_.is_ready() && breaker_.state() == Breaker::State::closed;
  }
  Breaker::State state() const { return breaker_.state(); }
  /// The last reason for which the remote store did not decide.
  Error last_error() const { return last_error_; }

 private:
  friend Forwarded<CircuitBreaker>;
  struct Probe final : Completion {
    explicit Probe(CircuitBreaker& its_link) : link(its_link) {}
    void complete(const Result& result, Instant now) noexcept override {
      is_awaited = false;
      link.note(result.error, now);
    }
    CircuitBreaker& link;
    bool is_awaited = false;
  };

  bool is_let_through(Instant now);
  std::optional<Result> ask(Acquisition& acquisition, Completion& completion, Instant now) noexcept;
  void answer(Forwarded<CircuitBreaker>& asked, const Result& result, Instant now);
  void note(Error error, Instant now);
  void publish_state() { counters_.breaker.store(breaker_.state(), std::memory_order_relaxed); }

  RemoteStore& remote_;  ///< the next store
  Breaker breaker_;
  ChainCounters& counters_;
  Error last_error_ = Error::none;
  Reused<Forwarded<CircuitBreaker>> asked_;
  Probe probe_;
};

}  // namespace weir::store
