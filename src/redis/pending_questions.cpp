#include "redis/pending_questions.hpp"

#include <new>
#include <utility>

#include <boost/asio/post.hpp>

#include "redis/answer.hpp"

namespace weir::redis {

PendingQuestions::PendingQuestions(asio::io_context& io, const MonotonicClock& clock,
                                   Outcomes& outcomes, Holds* holds, Owner& owner)
    : io_(io),
      clock_(io, clock),
      outcomes_(outcomes),
      holds_(holds),
      owner_(owner),
      timer_(io.get_executor()) {}

// ---- failures ----

void PendingQuestions::on_loss(Question& question, store::Error why,
                               std::string_view text) noexcept {
  if (!question.holds.empty()) holds_->on_loss(question.holds);
  if (question.completion == nullptr) return queue_.give_back(question);
  if (question.is_due) return void(question.is_lost = true);
  question.unlink();
  if (!text.empty()) outcomes_.on_error_reply(why, text);
  fail_later(question, why);
}

void PendingQuestions::fail_later(Question& question, store::Error error) noexcept {
  question.error = error;
  question.link_before(failed_);
  post_pass();
}

void PendingQuestions::post_pass() noexcept {
  if (std::exchange(pass_posted_, true)) return;
  asio::post(io_, pass_handler_([this, watch = presence_.watch()] {
               if (watch.expired()) return;
               pass_posted_ = false;
               complete_failed();
               if (!armed_) arm_first();
             }));
}

void PendingQuestions::complete_failed() noexcept {
  // Questions that fail while these are completed are left for the next pass.
  DeadlineLink now;
  now.link_before(failed_);
  failed_.unlink();
  while (now.is_linked()) {
    auto& question = static_cast<Question&>(*now.next());
    complete(question, failed(question.error));
  }
}

// ---- deadlines ----

void PendingQuestions::arm(std::chrono::steady_clock::time_point deadline) {
  armed_ = false;  // and stays so if the wait cannot be added
  timer_.expires_at(deadline);
  timer_.async_wait(timer_handler_([this, watch = presence_.watch()](error_code ec) {
    // Cancelled: the timer was armed for an earlier deadline, or stopped.
    if (watch.expired() || ec) return;
    on_deadline();
  }));
  armed_ = true;
}

/// For questions that were sent: without memory for the timer it is armed in the next pass.
void PendingQuestions::arm_first() noexcept {
  Question* const first = queue_.first();
  if (first == nullptr) return;
  try {
    arm(first->deadline);
  } catch (const std::bad_alloc&) {
    post_pass();
  }
}

/// An answer does not cancel the timer. It expires at the earliest deadline or before, and is armed
/// again for the earliest that is left.
void PendingQuestions::on_deadline() noexcept {
  armed_ = true;  // calls meanwhile do not arm it; the end of this function does
  const auto now = std::chrono::steady_clock::now();
  const auto is_due = [now](const Question* one) { return one != nullptr && one->deadline <= now; };
  Question* first = queue_.first();
  // A busy loop may have answers that have arrived and were not read yet.
  const auto watch = presence_.watch();
  for (const Question* before = nullptr; is_due(first) && first != before;) {
    before = first;
    owner_.read_arrived();
    if (watch.expired()) return;
    first = queue_.first();
  }
  // Collected first, because a completion may close the connection.
  DeadlineLink due;
  for (; is_due(first); first = queue_.first()) {
    first->unlink();
    first->link_before(due);
    first->is_due = true;
  }
  complete_due(due);
  armed_ = false;
  arm_first();
}

void PendingQuestions::complete_due(DeadlineLink& due) noexcept {
  const store::Result timeout = failed(store::Error::timeout);
  while (due.is_linked()) {
    auto& question = static_cast<Question&>(*due.next());
    question.unlink();
    store::Completion& completion = *std::exchange(question.completion, nullptr);
    if (question.is_lost) queue_.give_back(question);
    outcomes_.on_result(timeout);
    completion.complete(timeout, clock_.now());
  }
}

}  // namespace weir::redis
