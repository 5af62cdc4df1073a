// The phase of a client connection, its deadline, and the reasons to end a wait early.
//
// A timeout, a departed client and an abort cancel the current wait. A cancellation without an
// operation in progress has no effect, so each reason is also a flag that is read before the next
// wait, and a deadline fires again at each tick until another phase begins. Used from its worker's
// loop only.
#pragma once

#include <cstdint>

#include "base/deadline_wheel.hpp"
#include "base/time.hpp"
#include "loop/cancellable.hpp"

namespace weir::proxy {

enum class Phase : std::uint8_t {
  open,
  idle,
  head,
  decide,
  delay,
  connect,
  response,
  relay,  ///< waits for the next piece of a response body
  body,   ///< waits for a piece of a request body, or until a piece of a response is sent
  tunnel,
  linger
};

/// The reasons to end a wait before its operation completes.
struct Interruptions {
  bool timed_out = false;    ///< the deadline of the phase has passed
  bool aborted = false;      ///< the worker ends its connections
  bool client_left = false;  ///< the client has closed its connection or its sending half
};

class Watchdog final : public Deadline {
 public:
  /// `client` and `wheel` outlive the watchdog.
  Watchdog(DeadlineWheel& wheel, loop::Cancellable& client) : wheel_(wheel), client_(client) {}

  Phase phase() const { return phase_; }
  /// Begins a phase that lasts for at most `timeout`, rounded up to ticks.
  void arm(Phase phase, Duration timeout);
  /// Begins a phase without a deadline.
  void disarm(Phase phase);
  /// Begins a phase whose deadline the caller arms on the wheel.
  void begin(Phase phase);

  /// Prepares for another client.
  void renew() {
    interruptions_ = {};
    disarm(Phase::idle);
  }

  const Interruptions& interruptions() const { return interruptions_; }
  bool timed_out() const { return interruptions_.timed_out; }
  bool aborted() const { return interruptions_.aborted; }
  /// Clears the timeout of the previous try, before the next one.
  void forget_timeout() { interruptions_.timed_out = false; }

  /// Sets the operation that is awaited in addition to the client; nullptr: none.
  void watch(loop::Cancellable* other) { other_ = other; }

  /// Called by the wheel: the deadline has passed.
  void on_deadline();
  void client_left();
  /// Ends all waits for good. A message or a tunnel that is in progress is reset, because it must
  /// not look complete: some end with their connection (RFC 9112 section 8).
  void abort();

 private:
  DeadlineWheel& wheel_;
  loop::Cancellable& client_;
  loop::Cancellable* other_ = nullptr;  ///< an upstream connection, a handshake or a delay
  Phase phase_ = Phase::idle;
  Interruptions interruptions_;
};

/// Watches an operation for as long as this object lives.
class Watched {
 public:
  Watched(Watchdog& watchdog, loop::Cancellable& other) : watchdog_(watchdog) {
    watchdog.watch(&other);
  }
  ~Watched() { watchdog_.watch(nullptr); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watchdog& watchdog_;
};

}  // namespace weir::proxy
