// The body of a request as an exchange reads it: decoded payload, piece by piece, independent of
// the client's protocol.
//
// Bounded: nothing is read before the last piece has been used, so a slow upstream slows the client
// down. Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/trailers.hpp"
#include "loop/io.hpp"

namespace weir::proxy {

/// The kind of the next piece of a message body.
enum class BodyState : std::uint8_t {
  payload,    ///< payload, valid until more is read
  exhausted,  ///< nothing: all bytes that have arrived are used up
  ended,      ///< nothing: the body is complete
  malformed,  ///< nothing: its coding is broken
};

class RequestBody {
 public:
  virtual ~RequestBody() = default;

  /// Returns the next piece of the bytes that have already arrived. No I/O.
  virtual BodyState pull(std::string_view& piece) = 0;
  /// Reads at least one more byte. An error is the client's fault.
  virtual loop::Task<error_code> fill() = 0;
  /// True if the bytes of the last fill() may take long, so that other clients come first.
  virtual bool is_costly() const { return false; }
  /// Ends a fill() that is waiting.
  virtual void cancel() = 0;

  /// Stores trailer fields in `trailers`; without this call they are dropped.
  virtual void keep_trailers(http::Trailers& trailers) = 0;
  /// Keeps the bytes that arrive from now on for rewind(), if the whole body has at most `most`
  /// bytes as received. 0: nothing is kept.
  virtual void keep(std::size_t most) = 0;
  /// True if all bytes received are still kept.
  virtual bool is_kept() const = 0;
  /// True if the bytes of the next fill() will be kept, too.
  virtual bool can_keep_more() const = 0;
  /// Makes the next pull() return the first byte again. Only if is_kept().
  virtual void rewind() = 0;

  /// True if the client has closed its connection or its sending half, and has sent nothing after
  /// this request as far as can be seen without reading.
  virtual bool client_has_left() = 0;

  /// True if the last piece has been pulled.
  bool has_ended() const { return has_ended_; }
  /// Bytes of payload pulled since the beginning or the last rewind().
  std::uint64_t received() const { return received_; }

 protected:
  bool has_ended_ = true;
  std::uint64_t received_ = 0;
};

}  // namespace weir::proxy
