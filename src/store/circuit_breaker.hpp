// The circuit breaker of one node: bounds the questions in flight to it, and sends none while it
// does not answer (store/node_control.hpp).
//
// A request that is not sent fails at once: with Error::overloaded if too many questions are in
// flight, otherwise with the last error. Belongs to one worker.
#pragma once

#include "store/chain_counters.hpp"
#include "store/guarded_store.hpp"
#include "store/node_control.hpp"
#include "store/remote_store.hpp"
#include "store/reused.hpp"

namespace weir::store {

class CircuitBreaker final : public GuardedStore {
 public:
  CircuitBreaker(RemoteStore& next, const NodeControl::Options& options, BreakerCounters& counters)
      : remote_(next), control_(options), counters_(counters), probe_(*this) {
    publish();
  }

  /// Writes Acquisition::asked_at and may_gather if it sends the request.
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override {
    return remote_.peek(acquisition, completion, now);
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    return remote_.forget(key, completion, now);
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    remote_.settle(settlements, now);
  }

  bool is_trusted(const Hash128& /*identity*/) const override { return is_trusted(); }
  bool is_trusted() const {
    return remote_.is_ready() && control_.state() == NodeControl::State::closed;
  }
  bool read_generation(GenerationReceiver& receiver) override {
    return remote_.read_generation(receiver);
  }
  void probe(Instant now) override;
  void set_breaker(int failures, Duration retry_after) override {
    control_.set(failures, retry_after);
  }
  NodeControl::State state() const override { return control_.state(); }
  Error last_error() const override { return last_error_; }

 private:
  /// A question that has no result yet.
  struct Question final : Completion {
    explicit Question(CircuitBreaker& its_link) : link(its_link) {}
    void complete(const Result& result, Instant now) noexcept override {
      link.answer(*this, result, now);
    }
    CircuitBreaker& link;
    Completion* caller = nullptr;
    NodeControl::Sent sent;
  };
  struct Probe final : Completion {
    explicit Probe(CircuitBreaker& its_link) : link(its_link) {}
    void complete(const Result& result, Instant now) noexcept override {
      is_awaited = false;
      link.note(sent, result.error, now);
    }
    CircuitBreaker& link;
    NodeControl::Sent sent;
    bool is_awaited = false;
  };

  void note_replies(Instant now);
  NodeControl::Sent sent_at(Instant now) const;
  std::optional<Result> ask(Acquisition& acquisition, Completion& completion, Instant now) noexcept;
  void answer(Question& question, const Result& result, Instant now);
  void note(const NodeControl::Sent& sent, Error error, Instant now);
  void publish();

  RemoteStore& remote_;
  NodeControl control_;
  BreakerCounters& counters_;
  std::uint64_t replies_seen_ = 0;
  Error last_error_ = Error::none;
  Reused<Question> asked_;
  Probe probe_;
};

}  // namespace weir::store
