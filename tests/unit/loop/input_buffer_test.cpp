#include "loop/input_buffer.hpp"

#include <cstring>
#include <string>

#include "catch.hpp"

using weir::loop::InputBuffer;

namespace {

void arrive(InputBuffer& buffer, std::string_view bytes) {
  REQUIRE(buffer.free_size() >= bytes.size());
  std::memcpy(buffer.free_begin(), bytes.data(), bytes.size());
  buffer.commit(bytes.size());
}

}  // namespace

TEST_CASE("room is made by moving first and growing then, up to the bound") {
  InputBuffer buffer(4);
  arrive(buffer, "abcd");
  buffer.consume(2);
  REQUIRE(buffer.make_room(8));
  CHECK(buffer.capacity() == 4);
  arrive(buffer, "ef");
  REQUIRE(buffer.make_room(6));
  CHECK(buffer.capacity() == 6);
  arrive(buffer, "gh");
  CHECK_FALSE(buffer.make_room(6));
  CHECK(buffer.data() == "cdefgh");
}

TEST_CASE("consumed bytes stay readable until something arrives") {
  InputBuffer buffer(8);
  arrive(buffer, "abcd");
  const std::string_view view = buffer.data();
  buffer.consume(4);
  CHECK(buffer.empty());
  CHECK(view == "abcd");
}

TEST_CASE("appending keeps what is there, however little room is left") {
  for (std::size_t consumed = 0; consumed <= 4; ++consumed) {
    CAPTURE(consumed);
    InputBuffer buffer(4);
    arrive(buffer, "abcd");
    buffer.consume(consumed);
    const std::string expected = std::string("abcd").substr(consumed) + "0123456789";
    buffer.append("0123456789");
    CHECK(buffer.data() == expected);
  }
}

TEST_CASE("a grown buffer gives its room back when it is empty") {
  InputBuffer buffer(4);
  buffer.grow(64);
  arrive(buffer, "abc");
  buffer.shrink();
  CHECK(buffer.capacity() == 64);
  buffer.consume(3);
  buffer.shrink();
  CHECK(buffer.capacity() == 4);
}

TEST_CASE("an empty buffer gives its memory away and takes other memory later") {
  InputBuffer buffer(16);
  arrive(buffer, "abc");
  buffer.consume(3);
  auto bytes = buffer.release();
  REQUIRE(bytes != nullptr);
  CHECK_FALSE(buffer.has_memory());
  CHECK(buffer.data().empty());
  buffer.adopt(std::move(bytes));
  CHECK(buffer.free_size() == 16);
  arrive(buffer, "def");
  CHECK(buffer.data() == "def");
}

TEST_CASE("a buffer without memory takes some when bytes are appended") {
  InputBuffer buffer = InputBuffer::without_memory(16);
  CHECK_FALSE(buffer.has_memory());
  buffer.append("ab");
  CHECK(buffer.data() == "ab");
  CHECK(buffer.capacity() == 16);
}

TEST_CASE("a buffer that large messages have grown keeps its memory") {
  InputBuffer buffer(16);
  buffer.grow(32);
  CHECK(buffer.release() == nullptr);
  CHECK(buffer.capacity() == 32);
  buffer.grow(128);
  CHECK(buffer.release() != nullptr);  // it has shrunk
  CHECK_FALSE(buffer.has_memory());
}

TEST_CASE("a buffer that is dropped has no memory, whatever has grown it") {
  InputBuffer buffer(16);
  buffer.grow(32);
  buffer.drop();
  CHECK_FALSE(buffer.has_memory());
  CHECK(buffer.data().empty());
  buffer.append("ab");
  CHECK(buffer.data() == "ab");
}

TEST_CASE("a mark brings back what was consumed since") {
  InputBuffer buffer(16);
  arrive(buffer, "headbody");
  buffer.consume(4);
  const auto mark = buffer.mark();
  buffer.consume(1);
  buffer.rewind(mark);
  CHECK(buffer.data() == "body");
  buffer.consume(4);
  CHECK(buffer.empty());
  buffer.rewind(mark);
  CHECK(buffer.data() == "body");
  CHECK(buffer.free_size() == 8);
}
