// Keeps the bytes received of a request body, so that another try can send them again.
//
// Nothing is copied: bytes that arrived with the head stay in place, and the buffer of the other
// bytes is not overwritten while everything fits into the limit. Used from its worker's loop only.
#pragma once

#include <cstddef>

#include "loop/input_buffer.hpp"

namespace weir::proxy {

class KeptBody {
 public:
  /// `with_head`: the body bytes that arrived with the head, in the head's buffer.
  explicit KeptBody(loop::InputBuffer::Mark with_head) : with_head_(with_head) {}

  /// From now on the body is read into another buffer, whose first `moved` bytes came from the
  /// head's. `limit`: bytes of the whole body, chunk framing included; 0: nothing is kept.
  void continue_in_buffer(std::size_t moved, std::size_t limit);

  /// True if all bytes received are still kept.
  bool is_whole() const { return is_whole_; }

  /// True if everything is kept and the limit leaves room for more.
  bool has_room() const { return is_whole_ && size_ < limit_; }
  /// The bytes that arrived with the head.
  std::size_t size_with_head() const { return with_head_.end - with_head_.begin; }

  /// Makes room in the body's buffer after the kept bytes. False if the body is not kept (any
  /// more); the buffer may then be overwritten.
  bool make_room(loop::InputBuffer& buffer);
  /// `count` bytes were read into the body's buffer.
  void add(std::size_t count);

  /// Restores both buffers to the state before the first byte of the body was used. Only if
  /// is_whole().
  void rewind(loop::InputBuffer& head_buffer, loop::InputBuffer* body_buffer) const;

 private:
  loop::InputBuffer::Mark with_head_;
  std::size_t limit_ = 0;  ///< of the body's buffer
  std::size_t size_ = 0;   ///< of the kept bytes at the front of the body's buffer
  bool is_whole_ = true;
};

}  // namespace weir::proxy
