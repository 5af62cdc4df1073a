#include "proxy/handshakes.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "proxy/stream.hpp"

namespace weir::proxy {
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
  while (auto* const next = static_cast<Handshake*>(queue_.next())) {
    const Suspended dropped = std::move(next->task_);
  }
}

void Handshakes::wait(Handshake& handshake) {
  queue_.wait(handshake);
  publish();
  if (!std::exchange(is_posted_, true)) asio::post(io_, [this] { give_turn(); });
}

/// Posts the turn after this one first: it comes after everything that is ready now.
void Handshakes::give_turn() {
  auto* const handshake = static_cast<Handshake*>(queue_.next());
  is_posted_ = queue_.waiting() > 0;
  if (is_posted_) asio::post(io_, [this] { give_turn(); });
  if (handshake == nullptr) return;
  if (!handshake->is_in_progress()) begin(*handshake);
  publish();
  handshake->task_.resume();
}

void Handshakes::begin(Handshake& handshake) {
  auto* const oldest = static_cast<Handshake*>(queue_.begin(handshake, most_));
  if (oldest == nullptr) return;
  oldest->end(Handshake::Outcome::displaced);
  queue_.leave(*oldest);
  oldest->give_up();
  oldest->stream_.close();
  displacing_();
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

/// Resumes the waiting task from the loop, because the caller may be iterating over the sessions.
void Handshake::give_up() {
  is_given_up_ = true;
  all_.queue_.withdraw(*this);
  if (!task_.is_waiting()) return;
  asio::post(all_.io_, [task = std::move(task_)]() mutable { task.resume(); });
}

}  // namespace weir::proxy
