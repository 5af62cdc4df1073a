// A link of the chain: stops asking the remote store after consecutive errors, and lets one
// question through from time to time (store/breaker.hpp).
//
// A question that is not asked fails at once, with the last error. Belongs to one worker.
#pragma once

#include "store/breaker.hpp"
#include "store/chain_counters.hpp"
#include "store/remote_store.hpp"
#include "store/reused.hpp"

namespace weir::store {

class CircuitBreaker final : public Store {
 public:
  CircuitBreaker(RemoteStore& next, const Breaker& breaker, ChainCounters& counters)
      : next_(next), breaker_(breaker), counters_(counters), probe_(*this) {
    publish_state();
  }

  /// Writes Acquisition::asked_at if it asks.
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override {
    return next_.peek(acquisition, completion, now);
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    return next_.forget(key, completion, now);
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    next_.settle(settlements, now);
  }

  /// To be called with every tick of the worker: while the last result of Redis was no decision, or
  /// the breaker is open, asks whether a decision is possible again, without a request.
  void probe(Instant now);

  /// Connected, and the breaker is closed.
  bool is_trusted() const { return next_.is_ready() && breaker_.state() == Breaker::State::closed; }
  Breaker::State state() const { return breaker_.state(); }
  /// The reason why the remote store did not decide, the last time it did not.
  Error last_error() const { return last_error_; }

 private:
  struct Asked final : Completion {
    explicit Asked(CircuitBreaker& its_link) : link(its_link) {}
    void complete(const Result& result, Instant now) noexcept override {
      link.answer(*this, result, now);
    }
    CircuitBreaker& link;
    Completion* caller = nullptr;
  };
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
  void answer(Asked& asked, const Result& result, Instant now);
  void note(Error error, Instant now);
  void publish_state() { counters_.breaker.store(breaker_.state(), std::memory_order_relaxed); }

  RemoteStore& next_;
  Breaker breaker_;
  ChainCounters& counters_;
  Error last_error_ = Error::none;
  Reused<Asked> asked_;
  Probe probe_;
};

}  // namespace weir::store
