// TLS handshakes with the clients of one worker, bounded in three ways.
//
// A step of a handshake costs the worker from 0.1 ms to some milliseconds, and clients choose when
// it happens. First, steps take turns, one at a time, and everything else that is ready runs
// between two of them. Second, a step that may be expensive, or that others wait for, runs on a
// thread of lower priority (StepThread), so the loop waits only for a cheap step that is alone.
// Third, at most `most` handshakes are in progress; one more closes the oldest, so clients that
// stall cannot keep others out. A connection whose ClientHello is incomplete does not count as a
// handshake, and one that waits for its first turn holds no OpenSSL state. Not thread-safe: one
// loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "base/traffic_counters.hpp"
#include "loop/cancellable.hpp"
#include "loop/handshake_queue.hpp"
#include "loop/io.hpp"
#include "loop/step_thread.hpp"

namespace weir::loop {

class Handshake;
class Stream;

class Handshakes {
 public:
  /// `displacing` is called when a handshake is closed because there are more than `most`.
  Handshakes(asio::io_context& io, std::size_t most, HandshakeCounters& counters,
             std::function<void()> displacing)
      : io_(io), most_(most), counters_(counters), displacing_(std::move(displacing)) {}
  ~Handshakes();
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

  /// Applies to handshakes that begin from now on.
  void set_most(std::size_t most) { most_ = most; }

 private:
  friend Handshake;
  void wait(Handshake& handshake);
  void post_turn();
  void give_turn();
  void begin(Handshake& handshake);
  bool step_on_thread(Handshake& handshake);
  void take_back();
  void publish() const;

  asio::io_context& io_;
  std::size_t most_;
  HandshakeCounters& counters_;
  std::function<void()> displacing_;
  HandshakeQueue queue_;
  bool is_posted_ = false;          ///< the next turn
  Handshake* on_thread_ = nullptr;  ///< its step runs there; no other gets a turn meanwhile
  StepThread thread_{io_, [this] { take_back(); }};
};

/// One handshake, from its complete ClientHello to its end. Counts itself when destroyed, as failed
/// unless end() was called.
class Handshake final : private HandshakeQueue::Entry, public Cancellable {
 public:
  /// `stream` is closed if there are too many. `may_cost_much`: a step is expensive, because of its
  /// group or its key.
  Handshake(Handshakes& all, Stream& stream, bool may_cost_much)
      : all_(all), stream_(stream), may_cost_much_(may_cost_much) {}
  ~Handshake();

  template <class Work>
  class Step {
   public:
    Step(Handshake& handshake, Work& work) : handshake_(handshake), work_(work) {}
    bool await_ready() const noexcept { return handshake_.is_given_up_; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) noexcept {
      handshake_.task_ = Suspended(task);
      handshake_.work_ = [this] { work_(); };
      handshake_.all_.wait(handshake_);
    }
    bool await_resume() const {
      if (handshake_.thrown_) std::rethrow_exception(std::exchange(handshake_.thrown_, nullptr));
      return !handshake_.is_given_up_;
    }

   private:
    Handshake& handshake_;
    Work& work_;
  };

  /// Awaitable: calls `work` when the handshake has its turn, on the loop or on the thread.
  /// Meanwhile only `work` may use the stream. False after give_up(), before or during the wait.
  template <class Work>
  Step<Work> step(Work& work) {
    return {*this, work};
  }
  /// Ends the handshake on a timeout or when the worker stops: it gets no more turns. A step that
  /// runs on the thread completes first.
  void give_up();
  void cancel() override { give_up(); }
  void close() override { give_up(); }

  enum class Outcome : std::uint8_t { failed, completed, timed_out, displaced };
  /// A displaced handshake keeps that outcome.
  void end(Outcome outcome) {
    if (outcome_ != Outcome::displaced) outcome_ = outcome;
  }

 private:
  friend Handshakes;
  void run() noexcept;

  Handshakes& all_;
  Stream& stream_;
  bool may_cost_much_;
  Suspended task_;              ///< waits for the step of this handshake
  std::function<void()> work_;  ///< the step
  std::exception_ptr thrown_;   ///< thrown by the step
  bool is_given_up_ = false;
  Outcome outcome_ = Outcome::failed;
};

}  // namespace weir::loop
