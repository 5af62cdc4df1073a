#include "loop/input_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weir::loop {

bool InputBuffer::make_room(std::size_t most) {
  if (free_size() > 0) return true;
  if (begin_ > 0) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return true;
  }
  if (capacity_ >= most) return false;
  resize(std::min(most, capacity_ * 2));
  return true;
}

void InputBuffer::append(std::string_view data) {
  if (data.size() > free_size()) {
    const std::size_t needed = end_ - begin_ + data.size();
    resize(needed > capacity_ ? std::max({initial_, capacity_ * 2, needed}) : capacity_);
  }
  std::memcpy(free_begin(), data.data(), data.size());
  commit(data.size());
}

void InputBuffer::grow(std::size_t capacity) {
  if (empty() && capacity > capacity_) resize(capacity);
}

void InputBuffer::shrink() {
  if (!empty() || capacity_ <= initial_ * 4) return;
  begin_ = end_ = 0;
  resize(initial_);
}

std::unique_ptr<char[]> InputBuffer::release() {
  begin_ = end_ = 0;
  if (capacity_ > initial_) shrink();
  if (capacity_ != initial_) return nullptr;
  capacity_ = 0;
  return std::move(bytes_);
}

void InputBuffer::drop() {
  begin_ = end_ = capacity_ = 0;
  bytes_.reset();
}

void InputBuffer::adopt(std::unique_ptr<char[]> bytes) {
  bytes_ = std::move(bytes);
  capacity_ = initial_;
}

void InputBuffer::resize(std::size_t capacity) {
  std::unique_ptr<char[]> larger(new char[capacity]);
  const std::size_t held = end_ - begin_;
  if (held > 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
  bytes_ = std::move(larger);
  capacity_ = capacity;
  begin_ = 0;
  end_ = held;
}

}  // namespace weir::loop
