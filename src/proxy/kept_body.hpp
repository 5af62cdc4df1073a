// Keeps the bytes received of a request body, so that another try can send them again.
//
// Nothing is copied: what arrived with the head stays where it lies, and the buffer that the rest
// is read into is not overwritten while everything fits into the limit. Used from its worker's loop
// only.
#pragma once

#include <cstddef>

#include "proxy/input_buffer.hpp"

namespace weir::proxy {

class KeptBody {
 public:
  /// `with_head`: the bytes that arrived after the head, in the head's buffer.
  explicit KeptBody(InputBuffer::Mark with_head) : with_head_(with_head) {}

  /// From here on the body is read into another buffer, whose first `moved` bytes came from the
  /// head's. `limit`: bytes of the whole body, chunk framing included; 0: nothing is kept.
  void continue_in_buffer(std::size_t moved, std::size_t limit);

  /// All that was received is still there.
  bool is_whole() const { return is_whole_; }

  /// Makes room in the body's buffer after what is kept. False if it is not kept (any more): then
  /// the buffer may be overwritten.
  bool make_room(InputBuffer& buffer);
  /// `count` bytes were read into the body's buffer.
  void add(std::size_t count);

  /// Both buffers are as they were before the first byte of the body was used. Only if is_whole().
  void rewind(InputBuffer& head_buffer, InputBuffer* body_buffer) const;

 private:
  InputBuffer::Mark with_head_;
  std::size_t limit_ = 0;  ///< of the body's buffer
  std::size_t size_ = 0;   ///< of what lies at the front of the body's buffer
  bool is_whole_ = true;
};

}  // namespace weir::proxy
