// Memory for a handler that waits in the loop, allocated in advance: adding the handler to the loop
// cannot fail for lack of memory.
//
// Meant for one handler at a time: a second one, or one larger than `size`, is allocated with
// operator new. Used on the loop only. May be destroyed while the handler waits.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <boost/asio/bind_allocator.hpp>

namespace weir::loop {

class HandlerMemory {
 public:
  /// Bytes, with what Asio stores beside the handler.
  static constexpr std::size_t size = 256;

  HandlerMemory() = default;
  ~HandlerMemory() {
    if (block_->is_used)
      block_->is_abandoned = true;
    else
      delete block_;
  }
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  /// The handler, with this memory as its associated allocator.
  template <class Handler>
  auto operator()(Handler handler) const {
    return boost::asio::bind_allocator(Allocator<std::byte>(*block_), std::move(handler));
  }

 private:
  struct Block {
    alignas(std::max_align_t) std::array<std::byte, size> bytes;
    bool is_used = false;
    bool is_abandoned = false;  ///< its owner is gone: deleted with the handler
  };

  template <class T>
  class Allocator {
   public:
    using value_type = T;
    explicit Allocator(Block& block) : block_(&block) {}
    template <class U>
    Allocator(const Allocator<U>& other) : block_(other.block_) {}

    T* allocate(std::size_t count) const {
      const bool fits = sizeof(T) * count <= size && alignof(T) <= alignof(std::max_align_t);
      if (block_->is_used || !fits) return std::allocator<T>().allocate(count);
      block_->is_used = true;
      return reinterpret_cast<T*>(block_->bytes.data());
    }
    void deallocate(T* memory, std::size_t count) const {
      if (reinterpret_cast<std::byte*>(memory) != block_->bytes.data())
        return std::allocator<T>().deallocate(memory, count);
      block_->is_used = false;
      if (block_->is_abandoned) delete block_;
    }
    template <class U>
    friend bool operator==(const Allocator& a, const Allocator<U>& b) {
      return a.block_ == b.block_;
    }

   private:
    template <class U>
    friend class Allocator;
    Block* block_;
  };

  Block* block_ = new Block;
};

}  // namespace weir::loop
