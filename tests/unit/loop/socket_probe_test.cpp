#include "loop/socket_probe.hpp"

#include <array>
#include <string_view>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::StreamPair;

struct Peeked {
  std::size_t size = 0;
  error_code ec;
};

Peeked peek_at(StreamPair& pair, std::array<char, 4>& to) {
  Peeked peeked;
  peeked.size = peek(pair.stream.socket(), asio::buffer(to), peeked.ec);
  return peeked;
}

TEST_CASE("peek() copies what has arrived and leaves it") {
  asio::io_context io;
  StreamPair pair(io);
  std::array<char, 4> bytes{};
  CHECK(peek_at(pair, bytes).ec == asio::error::would_block);
  pair.far.send("abcdef");
  for (int i = 0; i < 2; ++i) {
    const Peeked peeked = peek_at(pair, bytes);
    CHECK_FALSE(peeked.ec);
    CHECK(std::string_view(bytes.data(), peeked.size) == "abcd");
  }
}

TEST_CASE("peek() at the end is eof") {
  asio::io_context io;
  StreamPair pair(io);
  pair.far.close();
  std::array<char, 4> bytes{};
  CHECK(peek_at(pair, bytes).ec == asio::error::eof);
}

TEST_CASE("has_left() is true as soon as the other side has ended, even with bytes unread") {
  asio::io_context io;
  StreamPair pair(io);
  CHECK_FALSE(has_left(pair.stream.socket()));
  pair.far.send("a");
  CHECK_FALSE(has_left(pair.stream.socket()));
  pair.far.close();
  CHECK(has_left(pair.stream.socket()));
}

}  // namespace
}  // namespace weir::loop
