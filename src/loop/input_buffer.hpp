// A flat read buffer: unconsumed bytes are contiguous, so that a head can be parsed as views.
//
// Views into data() stay valid until another function changes the capacity or moves the data. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace weir::loop {

class InputBuffer {
 public:
  explicit InputBuffer(std::size_t capacity)
      : initial_(capacity), capacity_(capacity), bytes_(new char[capacity]) {}
  /// Creates a buffer in the state after release(): it has no memory before adopt() or append().
  static InputBuffer without_memory(std::size_t first_capacity) {
    return {first_capacity, nullptr};
  }

  std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }
  std::span<char> writable(std::size_t size) { return {bytes_.get() + begin_, size}; }
  bool has_memory() const { return capacity_ != 0; }
  bool empty() const { return begin_ == end_; }
  std::size_t capacity() const { return capacity_; }

  char* free_begin() { return bytes_.get() + end_; }
  std::size_t free_size() const { return capacity_ - end_; }
  void commit(std::size_t n) { end_ += n; }
  void consume(std::size_t n) {
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// The current content, which rewind() restores. Valid as long as nothing was read, moved or
  /// appended in between.
  struct Mark {
    std::size_t begin, end;
  };
  Mark mark() const { return {begin_, end_}; }
  void rewind(Mark mark) {
    begin_ = mark.begin;
    end_ = mark.end;
  }

  /// Makes free_size() positive by moving the data to the front or doubling, up to `most` bytes in
  /// all; false if the buffer is full.
  bool make_room(std::size_t most);
  void append(std::string_view data);
  /// Ensures a capacity of at least `capacity` bytes; only while empty.
  void grow(std::size_t capacity);
  /// Frees the memory that a large message made it allocate; only while empty.
  void shrink();
  /// Returns its memory and has none from now on, if it has the first capacity; else shrinks and
  /// returns nullptr. Only while empty.
  std::unique_ptr<char[]> release();
  /// Frees all memory; only while empty. It has none before adopt() or append().
  void drop();
  /// After release(): `bytes` has the first capacity.
  void adopt(std::unique_ptr<char[]> bytes);

 private:
  InputBuffer(std::size_t first_capacity, std::nullptr_t) : initial_(first_capacity) {}
  void resize(std::size_t capacity);

  std::size_t initial_;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace weir::loop
