// The body of a request as an exchange reads it: decoded payload, piece by piece, whatever the
// protocol of the client.
//
// Bounded: nothing is read before the last piece has been used, so a slow upstream holds the client
// back. Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/body_state.hpp"
#include "proxy/io.hpp"
#include "proxy/trailers.hpp"

namespace weir::proxy {

class RequestBody {
 public:
  virtual ~RequestBody() = default;

  /// The next piece of what has already arrived. No I/O.
  virtual BodyState pull(std::string_view& piece) = 0;
  /// Reads what has arrived since, at least a byte. An error is the client's.
  virtual Task<error_code> fill() = 0;
  /// Ends a fill() that waits.
  virtual void cancel() = 0;

  /// Trailer fields go there; without it they are dropped.
  virtual void keep_trailers(Trailers& trailers) = 0;
  /// Keeps what arrives from now on for rewind(), if the whole body has at most `most` bytes as
  /// they are received. 0: nothing is kept.
  virtual void keep(std::size_t most) = 0;
  /// Everything that was received is still there.
  virtual bool is_kept() const = 0;
  /// The next pull() returns the first byte again. Only if is_kept().
  virtual void rewind() = 0;

  /// The last piece has been pulled.
  bool has_ended() const { return has_ended_; }
  /// Bytes of payload pulled since the beginning or the last rewind().
  std::uint64_t received() const { return received_; }

 protected:
  bool has_ended_ = true;
  std::uint64_t received_ = 0;
};

}  // namespace weir::proxy
