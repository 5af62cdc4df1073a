#include "http2/block_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace weir::http2 {

BlockPool::~BlockPool() {
  has_ended_ = true;
  free_spares();
}

BlockPool& BlockPool::mine() {
  thread_local BlockPool pool;
  return pool;
}

void* BlockPool::allocate(std::size_t size) noexcept {
  const std::size_t kind = kind_of(size);
  Header* header = nullptr;
  if (kind < kinds && spares_[kind].first != nullptr) {
    Spares& spares = spares_[kind];
    header = std::exchange(spares.first, spares.first->next);
    --spares.count;
    --spare_;
  } else {
    const std::size_t whole = kind < kinds ? (kind + 1) * step : size + sizeof(Header);
    if (whole < size) return nullptr;
    header = static_cast<Header*>(std::malloc(whole));
    if (header == nullptr) return nullptr;
    header->kind = kind;
  }
  ++in_use_;
  return header + 1;
}

void* BlockPool::resize(void* block, std::size_t size) noexcept {
  if (block == nullptr) return allocate(size);
  const Header* const header = static_cast<Header*>(block) - 1;
  if (header->kind < kinds && kind_of(size) <= header->kind) return block;
  if (header->kind == kinds && kind_of(size) == kinds) {
    if (size + sizeof(Header) < size) return nullptr;
    auto* const moved =
        static_cast<Header*>(std::realloc(static_cast<Header*>(block) - 1, size + sizeof(Header)));
    if (moved == nullptr) return nullptr;
    return moved + 1;
  }
  void* const moved = allocate(size);
  if (moved == nullptr) return nullptr;
  // If the block is large, the new size is not.
  const std::size_t had = (header->kind + 1) * step - sizeof(Header);
  std::memcpy(moved, block, std::min(had, size));
  release(block);
  return moved;
}

void BlockPool::release(void* block) noexcept {
  if (block == nullptr) return;
  Header* const header = static_cast<Header*>(block) - 1;
  --in_use_;
  if (header->kind < kinds && spares_[header->kind].count < most_spare && !has_ended_) {
    Spares& spares = spares_[header->kind];
    header->next = std::exchange(spares.first, header);
    ++spares.count;
    ++spare_;
  } else {
    std::free(header);
  }
  if (in_use_ == 0) free_spares();
}

void BlockPool::free_spares() noexcept {
  for (Spares& spares : spares_) {
    while (spares.first != nullptr)
      std::free(std::exchange(spares.first, spares.first->next));
    spares.count = 0;
  }
  spare_ = 0;
}

}  // namespace weir::http2
