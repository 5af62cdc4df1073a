// Memory for nghttp2, which allocates and frees a dozen small blocks for each stream: blocks of a
// few sizes that a thread uses again.
//
// Bounded: large blocks, and those beyond `most_spare` of a size, go to the allocator of the
// process. When the last block in use is released, the spare ones are freed. A block may be
// released on another thread, which keeps it. A pool is used by one thread.
#pragma once

#include <array>
#include <cstddef>

// Lets AddressSanitizer detect a block that is used after its end.
#if defined(__SANITIZE_ADDRESS__)
#define WEIR_REUSES_BLOCKS false
#elif defined(__has_feature)
#define WEIR_REUSES_BLOCKS (!__has_feature(address_sanitizer))
#else
#define WEIR_REUSES_BLOCKS true
#endif

namespace weir::http2 {

class BlockPool {
 public:
  static constexpr std::size_t step = 64;   ///< bytes between two sizes, with the header of a block
  static constexpr std::size_t kinds = 16;  ///< sizes: up to 1 KiB
  static constexpr std::size_t most_spare = WEIR_REUSES_BLOCKS ? 512 : 0;  ///< of each size

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// The pool of this thread.
  static BlockPool& mine();

  /// Returns nullptr if there is no memory, as malloc() does; so does resize().
  void* allocate(std::size_t size) noexcept;
  void* resize(void* block, std::size_t size) noexcept;
  void release(void* block) noexcept;

  std::size_t spare() const { return spare_; }  ///< blocks

 private:
  struct alignas(std::max_align_t) Header {
    std::size_t kind;  ///< `kinds`: too large for the pool
    Header* next;      ///< while the block is spare
  };
  struct Spares {
    Header* first = nullptr;
    std::size_t count = 0;
  };

  static std::size_t kind_of(std::size_t size) {
    return size > kinds * step - sizeof(Header) ? kinds : (size + sizeof(Header) - 1) / step;
  }
  void free_spares() noexcept;

  std::array<Spares, kinds> spares_{};
  std::size_t spare_ = 0;
  std::ptrdiff_t in_use_ = 0;  ///< below 0 if blocks of other threads were released here
  bool has_ended_ = false;     ///< its thread ends
};

}  // namespace weir::http2
