#include "http2/block_pool.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::http2 {
namespace {

TEST_CASE("a block is used again for the same size, until none is in use") {
  BlockPool pool;
  void* const other = pool.allocate(1);
  void* const block = pool.allocate(200);
  pool.release(block);
  if (BlockPool::most_spare == 0) return pool.release(other);
  CHECK(pool.spare() == 1);
  void* const again = pool.allocate(180);
  CHECK(again == block);
  CHECK(pool.spare() == 0);
  pool.release(again);
  pool.release(other);
  CHECK(pool.spare() == 0);  // the memory was given back
}

TEST_CASE("few blocks of a size are kept, and no large one") {
  BlockPool pool;
  void* const other = pool.allocate(1);
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < BlockPool::most_spare + 10; ++i)
    blocks.push_back(pool.allocate(100));
  blocks.push_back(pool.allocate(BlockPool::kinds * BlockPool::step));
  for (void* const block : blocks)
    pool.release(block);
  CHECK(pool.spare() == BlockPool::most_spare);
  pool.release(other);
}

TEST_CASE("a block keeps its content when it is resized") {
  BlockPool pool;
  std::string expected;
  void* block = nullptr;
  for (const std::size_t size : {10U, 48U, 49U, 900U, 1008U, 1009U, 5000U, 9000U, 800U, 20U}) {
    CAPTURE(size);
    block = pool.resize(block, size);
    expected.resize(std::min(expected.size(), size));
    CHECK(std::memcmp(block, expected.data(), expected.size()) == 0);
    expected.resize(size, static_cast<char>('a' + size % 26));
    std::memcpy(block, expected.data(), size);
  }
  pool.release(block);
  pool.release(nullptr);
  CHECK(pool.allocate(static_cast<std::size_t>(-1)) == nullptr);
}

}  // namespace
}  // namespace weir::http2
