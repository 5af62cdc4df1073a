// A link of the chain: bounds the questions in flight to the remote store, and sends none while it
// does not answer (store/node_control.hpp).
//
// A request that is not sent fails at once: with Error::overloaded if too many questions are in
// flight, otherwise with the last error. Belongs to one worker.
#pragma once

#include "store/chain_counters.hpp"
#include "store/link.hpp"
#include "store/node_control.hpp"
#include "store/remote_store.hpp"
#include "store/reused.hpp"

namespace weir::store {

class CircuitBreaker final : public Link {
 public:
  CircuitBreaker(RemoteStore& next, const NodeControl::Settings& settings, ChainCounters& counters)
      : Link(next), remote_(next), control_(settings), counters_(counters), probe_(*this) {
    publish();
  }

  /// Writes Acquisition::asked_at if it sends the request.
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;

  /// To be called with every tick of the worker: counts what is in flight. If the last result of
  /// Redis was no decision, or the breaker is open, tests without a request whether Redis decides.
  void probe(Instant now);

  void set(int failures, Duration retry_after) { control_.set(failures, retry_after); }

  /// Connected, and the breaker is closed.
  bool is_trusted() const {
    return remote_.is_ready() && control_.state() == NodeControl::State::closed;
  }
  NodeControl::State state() const { return control_.state(); }
  /// The last reason for which the remote store did not decide.
  Error last_error() const { return last_error_; }

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

  RemoteStore& remote_;  ///< the next store
  NodeControl control_;
  ChainCounters& counters_;
  std::uint64_t replies_seen_ = 0;
  Error last_error_ = Error::none;
  Reused<Question> asked_;
  Probe probe_;
};

}  // namespace weir::store
