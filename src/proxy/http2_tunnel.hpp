// Bytes passed in both directions between a stream of HTTP/2 and an upstream after they have left
// HTTP (RFC 8441 section 5). Each direction ends by itself.
//
// Bounded: the windows of the stream bound what arrives from the client, and nothing more is read
// from the upstream while much waits for the client. Used from its worker's loop only.
#pragma once

#include <exception>
#include <span>
#include <string_view>

#include "loop/event.hpp"
#include "proxy/http2_stream.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

class Http2Tunnel {
 public:
  /// `scratch`: where bytes of the upstream are read. Other tunnels of the loop may use it too.
  Http2Tunnel(Http2Stream& stream, TunnelEnd upstream, std::span<char> scratch);

  /// Runs until both sides have ended, or one is broken or cancelled. True if both ended in order;
  /// the end of each has then been passed on to the other.
  loop::Task<bool> run();

 private:
  loop::Task<> run_down(loop::Task<> task);
  loop::Task<> carry(loop::Task<bool> direction);
  loop::Task<bool> carry_up();
  loop::Task<bool> carry_down();
  loop::Task<error_code> pass_down(std::string_view bytes);
  void keep_alive();
  void stop();

  Http2Stream& stream_;
  const TunnelEnd upstream_;
  std::span<char> scratch_;
  bool both_run_ = true;
  bool is_stopped_ = false;
  loop::Event other_way_;
  std::exception_ptr thrown_;
};

}  // namespace weir::proxy
