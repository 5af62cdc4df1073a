#include "redis/reply_bounds.hpp"

#include <hiredis/hiredis.h>
#include <string>

#include "catch.hpp"

namespace weir::redis {
namespace {

/// A reader that takes what arrives as the adapter does.
class BoundedReader {
 public:
  ~BoundedReader() { redisReaderFree(reader_); }
  /// Reads the bytes, and the replies that are complete. Returns false if the connection would end.
  bool read(const std::string& bytes) {
    REQUIRE(redisReaderFeed(reader_, bytes.data(), bytes.size()) == REDIS_OK);
    read_bytes += bytes.size();
    for (;;) {
      void* reply = nullptr;
      if (redisReaderGetReply(reader_, &reply) != REDIS_OK) return false;
      if (reply == nullptr) break;
      ++replies;
      freeReplyObject(reply);
    }
    bounds_.on_read();
    return !bounds_.is_exceeded();
  }
  /// Reads the bytes again and again, until the connection would end or `most` bytes were read.
  bool read_up_to(std::size_t most, const std::string& bytes) {
    while (read_bytes < most)
      if (!read(bytes)) return false;
    return true;
  }
  bool is_exceeded() const { return bounds_.is_exceeded(); }

  int replies = 0;
  std::size_t read_bytes = 0;

 private:
  redisReader* const reader_ = redisReaderCreate();
  ReplyBounds bounds_{*reader_};
};

std::string array_of(std::size_t elements) {
  return "*" + std::to_string(elements) + "\r\n";
}

std::string bulk_of(std::size_t size) {
  return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
}

std::string repeated(std::size_t times, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

constexpr std::size_t one_read = 16 * 1024;  // of hiredis
constexpr std::size_t far_too_large = 8 * most_reply_bytes;

}  // namespace

TEST_CASE("an array of too many elements is an error before its elements arrive") {
  for (const std::string begin : {"", "*2\r\n:1\r\n"}) {
    BoundedReader reader;
    CHECK_FALSE(reader.read(begin + array_of(most_elements + 1)));
    CHECK(reader.is_exceeded());
  }
  BoundedReader reader;
  CHECK(reader.read(array_of(most_elements)));
  CHECK(reader.read(repeated(most_elements, ":1\r\n")));
  CHECK(reader.replies == 1);
}

TEST_CASE("a reply of many elements is too large at some size, whatever they are") {
  BoundedReader reader;
  SECTION("long texts") {
    REQUIRE(reader.read(array_of(1'000)));
    CHECK_FALSE(reader.read_up_to(far_too_large, bulk_of(most_reply_bytes / 8)));
  }
  SECTION("short texts") {
    REQUIRE(reader.read(array_of(most_elements / 2)));
    CHECK_FALSE(reader.read_up_to(far_too_large, repeated(100, bulk_of(200))));
  }
  SECTION("arrays of nothing") {
    REQUIRE(reader.read(array_of(most_elements / 2)));
    const std::string nothing = repeated(most_elements / 8, "$-1\r\n");
    CHECK_FALSE(reader.read_up_to(far_too_large, array_of(most_elements / 8) + nothing));
    CHECK(reader.read_bytes < most_reply_bytes);  // smaller than what is allocated for it
  }
  CHECK(reader.is_exceeded());
  CHECK(reader.read_bytes <= most_reply_bytes + most_reply_bytes / 4);
  CHECK(reader.replies == 0);
}

TEST_CASE("a text without an end is too large at some size") {
  BoundedReader reader;
  SECTION("one whose size is stated") {
    REQUIRE(reader.read("$2000000000\r\n"));
    CHECK_FALSE(reader.read_up_to(far_too_large, std::string(one_read, 'x')));
    CHECK(reader.read_bytes > most_reply_bytes);
  }
  SECTION("one in an array that has almost the largest size") {
    REQUIRE(reader.read(array_of(2) + bulk_of(most_reply_bytes - 2 * one_read) + "$100000\r\n"));
    CHECK_FALSE(reader.read_up_to(far_too_large, std::string(one_read, 'x')));
  }
  SECTION("a line, which hiredis searches again after each read") {
    REQUIRE(reader.read(GENERATE("+", "-", ":", "$", "*")));
    CHECK_FALSE(reader.read_up_to(far_too_large, std::string(one_read, '1')));
    CHECK(reader.read_bytes <= most_line_bytes + one_read + 1);
  }
  CHECK(reader.is_exceeded());
  CHECK(reader.read_bytes <= most_reply_bytes + one_read);
}

TEST_CASE("replies that are sent together are not counted together") {
  BoundedReader reader;
  const std::string large = bulk_of(most_reply_bytes - 1);
  SECTION("large ones") {
    CHECK(reader.read(repeated(3, large)));
    CHECK(reader.replies == 3);
  }
  SECTION("one of which has arrived in part") {
    const std::string half = large.substr(0, large.size() / 2);
    CHECK(reader.read(large + half));
    CHECK(reader.read(large.substr(half.size())));
    CHECK(reader.replies == 2);
  }
  SECTION("small ones") {
    CHECK(reader.read_up_to(far_too_large, repeated(100, array_of(2) + ":1\r\n" + bulk_of(100))));
    CHECK(reader.replies > 50'000);
  }
}

TEST_CASE("a reply with another error has not exceeded a bound") {
  BoundedReader reader;
  CHECK_FALSE(reader.read("HTTP/1.1 400 Bad Request\r\n\r\n"));
  CHECK_FALSE(reader.is_exceeded());
}

}  // namespace weir::redis
