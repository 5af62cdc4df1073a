// Counts what a test allocates, by thread. Included by one source of an executable: it replaces the
// global operator new.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace weir {

inline thread_local std::size_t allocation_count = 0;

/// How often `run` allocates.
template <class Run>
std::size_t allocations_in(Run&& run) {
  const std::size_t before = allocation_count;
  run();
  return allocation_count - before;
}

}  // namespace weir

void* operator new(std::size_t size) {
  ++weir::allocation_count;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
// Also this one, or a sanitizer's own would answer it and the delete below not fit.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++weir::allocation_count;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
