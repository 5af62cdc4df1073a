// The server's side of an HTTP/2 connection (RFC 9113), without I/O: bytes of the client in, bytes
// for the client out.
//
// The budget of faults (http2/glitches.hpp) is kept here. A session is used by one thread at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/field_section.hpp"
#include "http2/glitches.hpp"
#include "http2/session_core.hpp"
#include "http2/stream.hpp"
#include "http2/stream_ids.hpp"

namespace weir::http2 {

/// The first bytes of a client of HTTP/2 (RFC 9113 section 3.4).
inline constexpr std::string_view client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct SessionOptions {
  std::size_t max_streams = 100;     ///< in progress at the same time
  std::size_t glitches = 1000;       ///< 0: no bound
  std::size_t max_head = 32 * 1024;  ///< of a request, with http::field_overhead for each field
  std::int32_t stream_window = 256 * 1024;       ///< bytes of a body that wait in a stream
  std::int32_t connection_window = 1024 * 1024;  ///< the same of all streams together
  /// The bounds of one call of receive(), so that a burst does not hold up other connections.
  /// 0: no bound. Heads that it completes, and bytes of the fields that it decodes:
  std::size_t heads_at_once = 0;
  std::size_t fields_at_once = 0;
  /// In place of heads_at_once until a stream is open: new connections may come in large numbers.
  std::size_t heads_at_first = 0;
  /// Bytes are taken in pieces that grow to this size, and no more after one with faults. A client
  /// that has made faults before (Glitches::is_notable()) gets one head or one piece in a call.
  std::size_t piece_size = 0;
};

/// Makes the streams of a session.
class StreamSource {
 public:
  /// The receiver of a new stream, which lives until its on_closed(); nullptr: it is refused.
  virtual Stream* open_stream() = 0;

 protected:
  ~StreamSource() = default;
};

class Session : public SessionCore {
 public:
  /// `source` outlives the session. Throws std::bad_alloc.
  Session(StreamSource& source, const SessionOptions& options);
  ~Session();

  /// Takes bytes of the client. False: the connection is to be closed after what
  /// append_output() still gives, which is a GOAWAY if the client is at fault.
  bool receive(std::string_view bytes);
  /// True if the last receive() has stopped at its bounds. The next call must begin with the bytes
  /// that were left, also if there are none.
  bool has_paused() const { return has_paused_; }
  /// As SessionCore::append_output().
  bool append_output(std::string& out, std::size_t most);
  /// The bytes that the last receive() took from the front of those it was given.
  std::size_t taken() const { return received_; }
  /// True if a stream with a fault waits for its reset, which append_output() gives. Its request is
  /// not to be served.
  bool has_resets() const { return has_resets_; }
  /// Sends the final response; without a body it ends the stream. The bytes of the body are read
  /// from the stream.
  void respond(Stream& stream, int status, const http::FieldSection& fields, bool has_body);
  /// Sends an interim response (RFC 9110 section 15.2).
  void inform(Stream& stream, int status, const http::FieldSection& fields);
  /// Announces the end: the client is asked to open no more streams.
  void begin_drain();
  /// Takes no more streams; those in progress go on.
  void end_drain();

  const Glitches& glitches() const { return glitches_; }
  /// True if three quarters of the budget were spent at some time, also if some are forgiven since.
  bool was_given_up() const { return was_given_up_; }
  /// True if three quarters of the budget were spent, or an error has ended the connection.
  bool has_failed() const { return was_given_up_ || has_sent_error_; }
  /// True while the client owes the rest of what it has begun: a head, or the SETTINGS of its
  /// preface.
  bool awaits_head() const { return open_heads_ != 0 || settings_ == 0; }

 private:
  struct ServerCallbacks;

  void announce(std::span<char> output) const;
  bool receive_pieces(std::string_view bytes);
  std::size_t queued_frames() const;
  bool is_at_bound() const;
  std::uint64_t most_window_updates() const;
  void begin_head(std::int32_t id, bool is_open, bool has_body);
  void note_ignored_bytes();
  void close(Stream& stream, std::uint32_t error_code);
  void note_glitch();

  StreamSource& source_;
  const std::size_t heads_at_once_;
  const std::size_t heads_at_first_;
  const std::size_t fields_at_once_;
  const std::size_t piece_size_;
  const std::uint32_t max_streams_;
  const std::uint64_t stream_window_;
  const std::size_t free_late_heads_;  ///< that may be on their way when GOAWAY is sent
  Glitches glitches_;
  StreamIds ids_;
  std::uint64_t window_updates_ = 0;  ///< received
  std::uint64_t settings_ = 0;        ///< received
  std::uint64_t goaways_ = 0;         ///< received
  std::uint64_t unknown_frames_ = 0;  ///< received
  std::uint64_t opened_ = 0;          ///< streams
  std::uint64_t bodies_ = 0;          ///< that the client has begun
  std::uint64_t taken_bytes_ = 0;     ///< of all calls of receive()
  std::uint64_t frame_bytes_ = 0;     ///< of the frames that nghttp2 has not ignored
  std::uint64_t ignored_noted_ = 0;   ///< glitches of ignored frames
  std::size_t late_heads_ = 0;        ///< of new streams after the GOAWAY with a last stream
  std::size_t open_heads_ = 0;        ///< streams whose head is incomplete
  std::size_t pings_ = 0;             ///< in the bytes being received
  std::size_t replies_ = 0;           ///< to SETTINGS and PING, queued in this call of receive()
  std::size_t received_ = 0;          ///< bytes of this call
  std::size_t heads_ = 0;             ///< completed in this call of receive()
  std::size_t most_heads_ = 0;        ///< of this call; 0: no bound
  std::size_t fields_ = 0;            ///< bytes decoded in it
  bool has_paused_ = false;
  bool has_resets_ = false;
  bool has_announced_ = false;    ///< the first SETTINGS were written
  bool takes_streams_ = true;     ///< no GOAWAY with a last stream has been queued
  bool has_sent_goaway_ = false;  ///< it has been sent
  bool has_sent_error_ = false;   ///< in a GOAWAY
  bool was_given_up_ = false;
};

}  // namespace weir::http2
