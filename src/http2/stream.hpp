// One stream of an HTTP/2 session, as the session sees it: the head of the message that it
// receives, and the functions that take its body and give the body of the message that it sends.
//
// The functions are called while the session receives or gives its output. They must
// not call receive() or append_output(); exceptions end the session. Used from one thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/field_section.hpp"
#include "http/header_list.hpp"
#include "http2/error_code.hpp"

namespace weir::http2 {

class Stream {
 public:
  virtual ~Stream() = default;

  /// A head is complete: of the request, or of a response, interim or final. has_ended(): it has no
  /// body.
  virtual void on_head() = 0;
  /// Bytes of the body, which count against the windows until SessionCore::consume().
  virtual void on_data(std::string_view bytes) = 0;
  /// The message is complete; its trailer fields, if any, are in trailers().
  virtual void on_end() = 0;
  /// Nothing is received or sent any more. The session does not use the stream after this call.
  virtual void on_closed() = 0;

  /// Copies the next bytes of the body to send, at most `most`, and returns their number.
  virtual std::size_t read_output(char* to, std::size_t most) = 0;
  /// True if there are no more bytes, and none will follow.
  virtual bool output_has_ended() const = 0;
  /// The trailer fields to send; called at the end of the body.
  virtual const http::FieldSection& output_trailers() const = 0;

  http::HeaderList& head() { return head_; }
  const http::HeaderList& head() const { return head_; }
  bool has_ended() const { return has_ended_; }
  bool is_closed() const { return is_closed_; }
  /// The error code of a closed stream (RFC 9113 section 7); 0: none.
  std::uint32_t closed_with() const { return closed_with_; }
  /// True if the head of a request to a server has been given to the output.
  bool was_sent() const { return was_sent_; }
  /// True if the other side has reset the stream.
  bool was_reset() const { return was_reset_; }
  const http::FieldSection& trailers() const { return trailers_; }

 protected:
  /// Prepares for another message.
  void clear() {
    id_ = 0;
    trailers_.clear();
    has_head_ = has_ended_ = is_closed_ = has_responded_ = false;
    unconsumed_ = 0;
    closed_with_ = 0;
    was_sent_ = false;
    was_reset_ = false;
  }

 private:
  friend class SessionCore;
  friend class Session;
  friend class ClientSession;

  std::int32_t id_ = 0;
  http::HeaderList head_;
  http::FieldSection trailers_;
  bool has_head_ = false;
  bool has_ended_ = false;
  bool is_closed_ = false;
  bool has_responded_ = false;
  bool was_sent_ = false;
  bool was_reset_ = false;
  std::uint32_t closed_with_ = 0;
  std::size_t unconsumed_ = 0;  ///< bytes of the body that count against the windows
};

}  // namespace weir::http2
