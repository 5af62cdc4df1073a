// Bytes passed in both directions between a client and an upstream after they have left HTTP. Bytes
// that have already arrived go first; each direction ends by itself.
//
// Bounded: nothing more is read from one side before the other has accepted the previous bytes. All
// tunnels of a worker read into the same memory, so a tunnel through which nothing passes has none.
// Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

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
    loop::InputBuffer& input;  ///< bytes that arrived before the tunnel; its memory is freed
    std::uint64_t& carried;    ///< incremented by the bytes from this side
  };

  /// `scratch`: where bytes are read. Other tunnels of the loop may use it too.
  Tunnel(asio::io_context& io, std::span<char> scratch, Side client, Side upstream,
         TunnelIdle idle);

  /// Runs until both sides have ended, or one is broken or cancelled. True if both ended in order;
  /// the end of each has then been passed on to the other.
  loop::Task<bool> run();
  /// True if bytes that were read from one side were not sent to the other.
  bool has_lost_bytes() const { return has_lost_bytes_; }

 private:
  loop::Task<> carry_down(loop::Task<> task);
  loop::Task<> carry(Side& from, Side& to);
  loop::Task<bool> carry_to_end(Side& from, Side& to);
  void pass_on(std::string_view piece, Side& from, Side& to, error_code& ec);
  void stop();

  asio::io_context& io_;
  std::span<char> scratch_;
  Side client_;
  Side upstream_;
  TunnelIdle idle_;
  bool both_run_ = true;
  bool stopped_ = false;
  bool has_lost_bytes_ = false;
  loop::Timer other_way_;
  std::exception_ptr thrown_;
};

}  // namespace weir::proxy
