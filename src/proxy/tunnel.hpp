// Bytes carried both ways between a client and an upstream that have left HTTP: what arrived
// already first, each way until its own end.
//
// Bounded: nothing more is read from one side before the other has taken what was. Used from its
// worker's loop only.
#pragma once

#include <cstdint>
#include <exception>

#include "base/deadline_wheel.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/io.hpp"
#include "proxy/stream.hpp"

namespace weir::proxy {

/// Fires when no byte has passed either way for a while; whoever owns the deadline cancels both
/// streams then.
struct TunnelIdle {
  DeadlineWheel& wheel;
  Deadline& deadline;
  std::uint64_t ticks;
};

class Tunnel {
 public:
  struct Side {
    Stream& stream;
    InputBuffer& input;      ///< what arrived from this side and was not passed on yet
    std::uint64_t& carried;  ///< bytes from this side, counted up
  };

  Tunnel(asio::io_context& io, Side client, Side upstream, TunnelIdle idle);

  /// Until both sides have ended, or one is broken or cancelled. True if both ended in order: the
  /// end of each has been passed on to the other then.
  Task<bool> run();

 private:
  Task<> carry_down(Task<> task);
  Task<> carry(Side& from, Side& to);
  Task<bool> carry_to_end(Side& from, Side& to);
  void stop();

  asio::io_context& io_;
  Side client_;
  Side upstream_;
  TunnelIdle idle_;
  Timer other_way_;
  bool both_run_ = true;
  bool stopped_ = false;
  std::exception_ptr thrown_;
};

}  // namespace weir::proxy
