// The questions to Redis that are not completed, and the timer of their deadlines. Completes each
// question exactly once: with its result, or as failed when its deadline has passed or its
// connection has ended.
//
// A question stays in use after its timeout, until its reply arrives or the connection ends. In the
// steady state nothing is allocated, and only take() and set_timeout() can throw std::bad_alloc.
// Used on the loop only. No completion is called from within take(), await_reply() or fail_later();
// a completion may call all of them. Handlers that wait in the loop do nothing once this is
// destroyed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "loop/pass_clock.hpp"
#include "redis/answer.hpp"
#include "redis/connection.hpp"
#include "redis/deadline_queue.hpp"
#include "redis/hash_slot.hpp"
#include "redis/holds.hpp"
#include "redis/outcomes.hpp"
#include "redis/question_command.hpp"
#include "store/store.hpp"

namespace weir::redis {

class PendingQuestions;

/// A command to Redis that a call of the store waits for.
struct Question final : DeadlineLink, Recipient {
  explicit Question(PendingQuestions& its_list) : list(its_list) {}
  void on_reply(const redisReply& reply) noexcept override;
  void on_loss(store::Error why, std::string_view text) noexcept override;

  PendingQuestions& list;
  store::Completion* completion = nullptr;    ///< nullptr: completed, its reply is late
  store::Acquisition* acquisition = nullptr;  ///< nullptr: a key to forget
  std::size_t script = 0;
  bool repeated = false;   ///< as EVAL, because the server had lost the script
  bool is_asking = false;  ///< its command follows ASKING
  bool may_join = false;   ///< with others in one call
  bool is_due = false;     ///< its deadline has passed, and it is about to be completed
  bool is_lost = false;    ///< while due, its connection has ended: no reply will arrive
  store::Error error = store::Error::none;
  std::chrono::steady_clock::time_point deadline;
  std::string command;
  QuestionParts parts;  ///< of the command, if it may be joined
  HashSlot slot = 0;    ///< if it matters for joining
  QuestionHolds holds;  ///< of the keys that it holds units of
};

class PendingQuestions {
 public:
  class Owner {
   public:
    /// A reply in time: completes the question, or sends it again.
    virtual void on_reply(Question& question, const redisReply& reply) noexcept = 0;
    /// Deadlines have passed: reads replies that have arrived and were not read yet.
    virtual void read_arrived() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  /// `clock` is read for the `now` of completions. `outcomes` records every result. `holds`
  /// receives late replies and losses of questions that hold; nullptr: none does.
  PendingQuestions(asio::io_context& io, const MonotonicClock& clock, Outcomes& outcomes,
                   Holds* holds, Owner& owner);
  PendingQuestions(const PendingQuestions&) = delete;
  PendingQuestions& operator=(const PendingQuestions&) = delete;

  /// Passes an unused question to `ask`. If that throws, the question is unused again, and is not
  /// completed. `acquisition`: nullptr for a key to forget.
  template <class Ask>
  void take(store::Completion& completion, store::Acquisition* acquisition, Ask&& ask);
  /// The question fails after `timeout`. Throws if the timer cannot be armed, so it comes before
  /// the question is sent; await_reply() follows.
  void set_timeout(Question& question, Duration timeout);
  /// The question was sent.
  void await_reply(Question& question) { queue_.push(question); }
  /// Completes the question in the next pass of the loop.
  void fail_later(Question& question, store::Error error) noexcept;
  void complete(Question& question, const store::Result& result) noexcept;
  /// Completes the question with Error::redirected, which is counted as no error.
  void redirect(Question& question) noexcept;
  /// Disarms the timer. Questions fail when their connection ends, as before.
  void stop() { timer_.cancel(); }

 private:
  friend struct Question;
  void on_reply(Question& question, const redisReply& reply) noexcept;
  void on_loss(Question& question, store::Error why, std::string_view text) noexcept;
  void post_pass() noexcept;
  void complete_failed() noexcept;
  void complete_due(DeadlineLink& due) noexcept;
  void arm(std::chrono::steady_clock::time_point deadline);
  void arm_first() noexcept;
  void on_deadline() noexcept;

  asio::io_context& io_;
  loop::PassClock clock_;  ///< read once for the replies of a pass
  Outcomes& outcomes_;
  Holds* const holds_;
  Owner& owner_;
  DeadlineQueue<Question> queue_;
  DeadlineLink failed_;  ///< to be completed in the next pass of the loop
  bool pass_posted_ = false;
  loop::HandlerMemory pass_handler_;
  loop::Timer timer_;
  loop::HandlerMemory timer_handler_;
  bool armed_ = false;
  loop::Presence presence_;
};

template <class Ask>
void PendingQuestions::take(store::Completion& completion, store::Acquisition* acquisition,
                            Ask&& ask) {
  Question& question = queue_.take(*this);
  question.completion = &completion;
  question.acquisition = acquisition;
  question.repeated = question.may_join = question.is_due = question.is_lost = false;
  question.command.clear();
  question.holds.clear();
  try {
    ask(question);
  } catch (...) {
    queue_.give_back(question);
    throw;
  }
}

// In the header because each request calls them.

inline void PendingQuestions::set_timeout(Question& question, Duration timeout) {
  question.deadline = std::chrono::steady_clock::now() + timeout;
  if (!armed_ || question.deadline < timer_.expiry()) arm(question.deadline);
}

inline void PendingQuestions::on_reply(Question& question, const redisReply& reply) noexcept {
  if (question.completion != nullptr) return owner_.on_reply(question, reply);
  outcomes_.on_late_reply();
  if (!question.holds.empty()) holds_->on_late_reply(question.holds, reply);
  queue_.give_back(question);
}

inline void PendingQuestions::complete(Question& question, const store::Result& result) noexcept {
  store::Completion& completion = *std::exchange(question.completion, nullptr);
  queue_.give_back(question);
  outcomes_.on_result(result);
  completion.complete(result, clock_.now());
}

inline void PendingQuestions::redirect(Question& question) noexcept {
  store::Completion& completion = *std::exchange(question.completion, nullptr);
  queue_.give_back(question);
  completion.complete(failed(store::Error::redirected), clock_.now());
}

inline void Question::on_reply(const redisReply& reply) noexcept {
  list.on_reply(*this, reply);
}

inline void Question::on_loss(store::Error why, std::string_view text) noexcept {
  list.on_loss(*this, why, text);
}

}  // namespace weir::redis
