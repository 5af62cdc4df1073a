// The part of an HTTP/2 connection (RFC 9113) that is the same for a server and a client, without
// I/O: output, windows, heads, the bodies that are sent.
//
// Frames, HPACK, the states of streams and the rules of section 8 for messages are those of
// nghttp2. A session is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "http/field_section.hpp"
#include "http2/stream.hpp"

struct nghttp2_session;

namespace weir::http2 {

class SessionCore {
 public:
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  /// Appends frames for the other side until `out` has at least `most` bytes or nothing is left to
  /// send. False: out of memory; the connection cannot go on.
  bool append_output(std::string& out, std::size_t most);
  bool has_output() const;
  /// False: an error or a GOAWAY has ended the connection for what arrives.
  bool wants_input() const;
  /// True if nothing is to be received or sent any more.
  bool is_over() const;

  /// The stream has output again.
  void resume(Stream& stream);
  /// Resets a stream that is not closed.
  void reset(Stream& stream, ErrorCode code);
  /// Gives bytes of a body back to the windows.
  void consume(Stream& stream, std::size_t bytes);
  /// Ends the connection with this reason.
  void terminate(ErrorCode code);

  std::size_t open_streams() const { return open_streams_; }

 protected:
  /// The functions that nghttp2 calls for both sides. `user` is the session. Exceptions must not
  /// pass through a library in C: they end the session.
  struct SharedCallbacks;

  /// `max_head`: bytes of a head or a trailer section, with http::field_overhead for each field.
  explicit SessionCore(std::size_t max_head) : max_head_(max_head) {}
  ~SessionCore();

  /// Takes bytes of the other side. False: the connection is to be closed after what
  /// append_output() still gives, which is a GOAWAY if the other side is at fault.
  bool receive_bytes(std::string_view bytes);
  /// The bytes that the last receive_bytes() took: all, unless a callback has paused it.
  std::size_t bytes_taken() const { return taken_; }
  void own(nghttp2_session* made) { native_.reset(made); }
  nghttp2_session* native() const { return native_.get(); }
  std::uint64_t sent() const { return sent_; }  ///< bytes of bodies
  /// DATA frames that were sent with all that there was, neither cut by a window nor the largest.
  std::uint64_t uncut_frames() const { return uncut_frames_; }

  /// A stream of the session from now on, whose first head is about to be received.
  void attach(Stream& stream, std::int32_t id);
  /// A head or a trailer section is about to be received.
  void begin_fields(Stream& stream);
  /// The stream is not used any more.
  void leave(Stream& stream);
  /// The session has closed the stream. Calls on_closed().
  void detach(Stream& stream, std::uint32_t error_code);

  struct Free {
    void operator()(nghttp2_session* session) const;
  };

 private:
  void take_field(Stream& stream, std::string_view name, std::string_view value,
                  bool is_never_indexed);
  ssize_t read_body(Stream& stream, char* to, std::size_t most, std::uint32_t& flags);

  const std::size_t max_head_;
  std::unique_ptr<nghttp2_session, Free> native_;
  std::size_t open_streams_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t uncut_frames_ = 0;
  std::size_t taken_ = 0;
  std::size_t trailers_size_ = 0;  ///< of the trailer section that is being received
};

}  // namespace weir::http2
