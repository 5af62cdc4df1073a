#include "proxy/kept_body.hpp"

namespace weir::proxy {

void KeptBody::continue_in_buffer(std::size_t moved, std::size_t limit) {
  with_head_.end -= moved;
  const std::size_t with_head = with_head_.end - with_head_.begin;
  limit_ = limit > with_head ? limit - with_head : 0;
  size_ = moved;
  is_whole_ = size_ < limit_;
}

bool KeptBody::make_room(loop::InputBuffer& buffer) {
  if (!is_whole_) return false;
  // An empty buffer starts at its front again, where the kept bytes are.
  const loop::InputBuffer::Mark unread =
      buffer.empty() ? loop::InputBuffer::Mark{size_, size_} : buffer.mark();
  buffer.rewind(unread);
  if (buffer.free_size() > 0) return true;
  buffer.rewind({0, size_});
  is_whole_ = buffer.make_room(limit_);
  buffer.rewind(is_whole_ || unread.begin < size_ ? unread : loop::InputBuffer::Mark{0, 0});
  return is_whole_;
}

void KeptBody::add(std::size_t count) {
  size_ += count;
  if (size_ > limit_) is_whole_ = false;
}

void KeptBody::rewind(loop::InputBuffer& head_buffer, loop::InputBuffer* body_buffer) const {
  head_buffer.rewind(with_head_);
  if (body_buffer != nullptr) body_buffer->rewind({0, size_});
}

}  // namespace weir::proxy
