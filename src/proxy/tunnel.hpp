// Bytes passed in both directions between a client and an upstream after they have left HTTP. Bytes
// that have already arrived go first; each direction ends by itself.
//
// Bounded: nothing more is read from one side before the other has accepted the previous bytes.
// Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <exception>

#include "base/deadline_wheel.hpp"
#include "loop/input_buffer.hpp"
#include "loop/io.hpp"
#include "loop/stream.hpp"

namespace weir::proxy {

/// Fires when no byte has passed in either direction for a while; the owner of the deadline then
/// cancels both streams.
struct TunnelIdle {
  DeadlineWheel& wheel;
  Deadline& deadline;
  std::uint64_t ticks;
};

class Tunnel {
 public:
  struct Side {
    loop::Stream& stream;
    loop::InputBuffer& input;  ///< bytes that arrived from this side and were not passed on yet
    std::uint64_t& carried;    ///< incremented by the bytes from this side
  };

  Tunnel(asio::io_context& io, Side client, Side upstream, TunnelIdle idle);

  /// Runs until both sides have ended, or one is broken or cancelled. True if both ended in order;
  /// the end of each has then been passed on to the other.
  loop::Task<bool> run();

 private:
  loop::Task<> carry_down(loop::Task<> task);
  loop::Task<> carry(Side& from, Side& to);
  loop::Task<bool> carry_to_end(Side& from, Side& to);
  void stop();

  asio::io_context& io_;
  Side client_;
  Side upstream_;
  TunnelIdle idle_;
  loop::Timer other_way_;
  bool both_run_ = true;
  bool stopped_ = false;
  std::exception_ptr thrown_;
};

}  // namespace weir::proxy
