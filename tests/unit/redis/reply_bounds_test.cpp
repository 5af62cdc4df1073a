#include "redis/reply_bounds.hpp"

#include <hiredis/hiredis.h>
#include <memory>
#include <string>

#include "catch.hpp"

namespace weir::redis {
namespace {

using Reader = std::unique_ptr<redisReader, decltype(&redisReaderFree)>;

Reader bounded_reader() {
  Reader reader(redisReaderCreate(), &redisReaderFree);
  bound_elements(*reader);
  return reader;
}

void feed(redisReader& reader, const std::string& bytes) {
  REQUIRE(redisReaderFeed(&reader, bytes.data(), bytes.size()) == REDIS_OK);
}

TEST_CASE("an array of too many elements is an error before its elements arrive") {
  for (const std::string begin : {"", "*2\r\n:1\r\n"}) {
    const auto large = bounded_reader();
    feed(*large, begin + "*2147483647\r\n");
    void* reply = nullptr;
    CHECK(redisReaderGetReply(large.get(), &reply) == REDIS_ERR);
    CHECK(reply == nullptr);
  }
  const auto small = bounded_reader();
  feed(*small, "*2\r\n:1\r\n$2\r\nab\r\n");
  void* reply = nullptr;
  REQUIRE(redisReaderGetReply(small.get(), &reply) == REDIS_OK);
  CHECK(static_cast<redisReply*>(reply)->elements == 2);
  freeReplyObject(reply);
}

TEST_CASE("an incomplete reply that grows is too large at some size") {
  const auto reader = bounded_reader();
  feed(*reader, "$2000000000\r\n");
  const std::string piece(1024 * 1024, 'x');
  for (std::size_t size = 0; size < most_reply_bytes; size += piece.size()) {
    void* reply = nullptr;
    REQUIRE(redisReaderGetReply(reader.get(), &reply) == REDIS_OK);
    REQUIRE(reply == nullptr);
    REQUIRE_FALSE(is_too_large(*reader));
    feed(*reader, piece);
  }
  feed(*reader, piece);
  CHECK(is_too_large(*reader));
}

}  // namespace
}  // namespace weir::redis
