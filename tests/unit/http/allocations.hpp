// Counts what a test allocates, by thread, and makes memory unavailable. Included by one source of
// an executable: it replaces the global operator new.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace weir {

inline thread_local std::size_t allocation_count = 0;
inline thread_local bool is_out_of_memory = false;
/// Counted down by each allocation; the one that makes it 0 fails.
inline thread_local std::size_t allocation_to_fail = 0;

/// How often `run` allocates.
template <class Run>
std::size_t allocations_in(Run&& run) {
  const std::size_t before = allocation_count;
  run();
  return allocation_count - before;
}

/// Runs `run` with an operator new that throws, and passes its exception on.
template <class Run>
void without_memory(Run&& run) {
  struct Restored {
    ~Restored() { is_out_of_memory = false; }
  } restored;
  is_out_of_memory = true;
  run();
}

/// Runs `run`, whose allocation with this number, from 1, fails. Returns whether there was one,
/// and passes an exception on.
template <class Run>
bool is_failed_allocation(std::size_t number, Run&& run) {
  struct Restored {
    ~Restored() { allocation_to_fail = 0; }
  } restored;
  allocation_to_fail = number;
  run();
  return allocation_to_fail == 0;
}

/// Whether this allocation is to fail.
inline bool fails_allocation() {
  ++allocation_count;
  return (allocation_to_fail > 0 && --allocation_to_fail == 0) || is_out_of_memory;
}

}  // namespace weir

// Not inlined, or the compiler sees malloc() beside delete and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = weir::fails_allocation() ? nullptr : std::malloc(size);
  if (memory != nullptr) return memory;
  throw std::bad_alloc{};
}
// Also this one, or a sanitizer's own would answer it and the delete below not fit.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return weir::fails_allocation() ? nullptr : std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// Asio allocates handlers with it outside a run of their loop.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void* memory = nullptr;
  const bool is_there = !weir::fails_allocation() && posix_memalign(&memory, alignment, size) == 0;
  return is_there ? memory : nullptr;
}
