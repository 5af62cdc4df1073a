#include "loop/handshakes.hpp"

#include <boost/asio/post.hpp>

#include "loop/stream.hpp"

namespace weir::loop {
namespace {

Counter& counter_of(HandshakeCounters& counters, Handshake::Outcome outcome) {
  switch (outcome) {
    case Handshake::Outcome::failed:
      return counters.failed;
    case Handshake::Outcome::completed:
      return counters.completed;
    case Handshake::Outcome::timed_out:
      return counters.timed_out;
    case Handshake::Outcome::displaced:
      return counters.displaced;
  }
  return counters.failed;
}

}  // namespace

/// Destroys the tasks that still wait, and with each of them its handshake.
Handshakes::~Handshakes() {
  thread_.stop();
  if (on_thread_ != nullptr) {
    on_thread_->stream_.take_back();
    const Suspended dropped = std::move(std::exchange(on_thread_, nullptr)->task_);
  }
  while (auto* const next = static_cast<Handshake*>(queue_.next())) {
    const Suspended dropped = std::move(next->task_);
  }
}

void Handshakes::wait(Handshake& handshake) {
  queue_.wait(handshake);
  publish();
  post_turn();
}

/// Posts a turn, unless one is already due: the posted one, or the one after the step on the
/// thread.
void Handshakes::post_turn() {
  if (is_posted_ || on_thread_ != nullptr || queue_.waiting() == 0) return;
  is_posted_ = true;
  asio::post(io_, [this] { give_turn(); });
}

/// Posts the next turn first, so that it comes after everything that is ready now.
void Handshakes::give_turn() {
  is_posted_ = false;
  auto* const handshake = static_cast<Handshake*>(queue_.next());
  if (handshake == nullptr) return;
  if (!handshake->is_in_progress()) begin(*handshake);
  publish();
  if ((handshake->may_cost_much_ || queue_.waiting() > 0) && step_on_thread(*handshake)) return;
  post_turn();
  handshake->run();
  handshake->task_.resume();
}

/// Returns false if there is no thread.
bool Handshakes::step_on_thread(Handshake& handshake) {
  handshake.stream_.lend();
  if (thread_.run([&handshake] { handshake.run(); })) {
    on_thread_ = &handshake;
    return true;
  }
  handshake.stream_.take_back();
  return false;
}

/// Called from the thread after the step.
void Handshakes::take_back() {
  Handshake& handshake = *std::exchange(on_thread_, nullptr);
  handshake.stream_.take_back();
  post_turn();
  handshake.task_.resume();
}

/// Nothing runs on the thread here, so the oldest can be closed at once.
void Handshakes::begin(Handshake& handshake) {
  auto* entry = queue_.begin(handshake, most_);
  // More than one if a reload has lowered the bound.
  for (; entry != nullptr; entry = queue_.oldest_beyond(most_)) {
    auto& oldest = static_cast<Handshake&>(*entry);
    oldest.end(Handshake::Outcome::displaced);
    queue_.leave(oldest);
    oldest.give_up();
    oldest.stream_.close();
    displacing_();
  }
}

void Handshakes::publish() const {
  counters_.waiting.set(static_cast<std::int64_t>(queue_.waiting()));
  counters_.in_progress.set(static_cast<std::int64_t>(queue_.in_progress()));
}

Handshake::~Handshake() {
  all_.queue_.leave(*this);
  all_.publish();
  counter_of(all_.counters_, outcome_).add();
}

void Handshake::run() noexcept {
  try {
    work_();
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

/// Resumes the waiting task from the loop, because the caller may be iterating over the
/// connections.
void Handshake::give_up() {
  is_given_up_ = true;
  all_.queue_.withdraw(*this);
  if (!task_.is_waiting() || all_.on_thread_ == this) return;
  asio::post(all_.io_, [task = std::move(task_)]() mutable { task.resume(); });
}

}  // namespace weir::loop
