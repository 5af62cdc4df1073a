// TLS handshakes with the clients of one worker, bounded in two ways.
//
// A step of a handshake costs the worker from 0.1 ms to some milliseconds, and a client chooses
// when to ask for one. So steps take turns: one in each pass of the loop, between which everything
// else that is ready runs. And at most `most` handshakes are in progress; one more closes the
// oldest, so clients that never go on cannot keep others out. A connection whose ClientHello is not
// complete is not a handshake yet, and one that waits for its first turn holds no state of OpenSSL.
// Not thread-safe: one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/traffic_counters.hpp"
#include "proxy/handshake_queue.hpp"
#include "proxy/io.hpp"

namespace weir::proxy {

class Handshake;
class Stream;

class Handshakes {
 public:
  /// `displacing` is called when a handshake is closed because there are too many.
  Handshakes(asio::io_context& io, std::size_t most, HandshakeCounters& counters,
             std::function<void()> displacing)
      : io_(io), most_(most), counters_(counters), displacing_(std::move(displacing)) {}
  ~Handshakes();
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

 private:
  friend Handshake;
  void wait(Handshake& handshake);
  void give_turn();
  void begin(Handshake& handshake);
  void publish() const;

  asio::io_context& io_;
  std::size_t most_;
  HandshakeCounters& counters_;
  std::function<void()> displacing_;
  HandshakeQueue queue_;
  bool is_posted_ = false;  ///< the next turn
};

/// One of them, from its complete ClientHello to its end. Counts itself when destroyed, as failed
/// unless end() was called.
class Handshake : private HandshakeQueue::Entry {
 public:
  /// `stream` is closed if there are too many.
  Handshake(Handshakes& all, Stream& stream) : all_(all), stream_(stream) {}
  ~Handshake();

  class Turn {
   public:
    explicit Turn(Handshake& handshake) : handshake_(handshake) {}
    bool await_ready() const noexcept { return handshake_.is_given_up_; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) noexcept {
      handshake_.task_ = Suspended(task);
      handshake_.all_.wait(handshake_);
    }
    bool await_resume() const noexcept { return !handshake_.is_given_up_; }

   private:
    Handshake& handshake_;
  };

  /// Awaited before each step: true when the step may run, false after give_up().
  Turn turn() { return Turn(*this); }
  /// Its time is over, or the worker's: it gets no turn any more and does not wait for one.
  void give_up();

  enum class Outcome : std::uint8_t { failed, completed, timed_out, displaced };
  /// Displaced stays displaced.
  void end(Outcome outcome) {
    if (outcome_ != Outcome::displaced) outcome_ = outcome;
  }

 private:
  friend Handshakes;
  Handshakes& all_;
  Stream& stream_;
  Suspended task_;  ///< what waits for its turn
  bool is_given_up_ = false;
  Outcome outcome_ = Outcome::failed;
};

}  // namespace weir::proxy
