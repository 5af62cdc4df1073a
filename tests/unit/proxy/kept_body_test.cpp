// The received bytes of a body, used up piece by piece and restored by rewind().
#include "proxy/kept_body.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "catch.hpp"

namespace weir::proxy {
namespace {

/// The two buffers of a request: the head's, with some of the body after the head, and the body's.
struct Received {
  explicit Received(const std::string& with_head, std::size_t moved = 0, std::size_t limit = 64) {
    head.append(with_head);
    mark = head.mark();
    kept.emplace(mark);
    head.consume(with_head.size() - moved);
    body.append(head.data());
    head.consume(moved);
    kept->continue_in_buffer(moved, limit);
  }
  /// Reads `data` as BodySource::fill() does, piece by piece; returns the room for the first piece.
  std::size_t read(std::string_view data) {
    const std::size_t room = make_room();
    while (!data.empty()) {
      const std::string_view piece = data.substr(0, make_room());
      std::memcpy(body.free_begin(), piece.data(), piece.size());
      body.commit(piece.size());
      kept->add(piece.size());
      data.remove_prefix(piece.size());
    }
    return room;
  }
  std::size_t make_room() {
    if (!kept->make_room(body)) body.make_room(64);
    return body.free_size();
  }
  void use_up() { body.consume(body.data().size()); }
  std::string all_again() {
    kept->rewind(head, &body);
    return std::string(head.data()) + std::string(body.data());
  }

  loop::InputBuffer head{64};
  loop::InputBuffer body{16};
  loop::InputBuffer::Mark mark{};
  std::optional<KeptBody> kept;
};

TEST_CASE("bytes that have not left the head's buffer are there again") {
  loop::InputBuffer head(64);
  head.append("HEADbody");
  head.consume(4);
  const KeptBody kept(head.mark());
  head.consume(4);
  CHECK(kept.is_whole());
  kept.rewind(head, nullptr);
  CHECK(head.data() == "body");
}

TEST_CASE("everything read is there again, in the order in which it came") {
  Received got("with head ");
  for (const char* const piece : {"one ", "two ", "three"}) {
    got.read(piece);
    got.use_up();
  }
  CHECK(got.kept->is_whole());
  CHECK(got.all_again() == "with head one two three");
  // A further try continues to read, and is repeated as well.
  got.head.consume(got.head.data().size());
  got.use_up();
  got.read(" four");
  CHECK(got.body.data() == " four");
  CHECK(got.all_again() == "with head one two three four");
}

TEST_CASE("a line that was not complete in the head's buffer is there once") {
  Received got("5\r\nhello\r\n0\r\nX-Che", 5);
  got.read("ck: a\r\n\r\n");
  got.use_up();
  CHECK(got.all_again() == "5\r\nhello\r\n0\r\nX-Check: a\r\n\r\n");
  CHECK(got.head.data() == "5\r\nhello\r\n0\r\n");
}

TEST_CASE("a piece that is not used up yet stays where it is read on") {
  Received got("");
  got.read("abcdef");
  got.body.consume(4);
  got.read("ghi");
  CHECK(got.body.data() == "efghi");
  got.use_up();
  CHECK(got.all_again() == "abcdefghi");
}

TEST_CASE("the buffer grows up to the limit, and keeps what it held") {
  Received got("", 0, 40);
  for (const char* const piece : {"0123456789abcdef", "ghijklmnopqrstuv", "wxyzWXYZ"}) {
    got.read(piece);
    got.use_up();
  }
  CHECK(got.body.capacity() == 40);
  CHECK(got.kept->is_whole());
  CHECK(got.all_again() == "0123456789abcdefghijklmnopqrstuvwxyzWXYZ");
}

TEST_CASE("a body above the limit is not kept, and its buffer is used from the front again") {
  SECTION("used up") {
    Received got("", 0, 16);
    got.read("0123456789abcdef");
    got.use_up();
    CHECK(got.kept->is_whole());
    CHECK(got.read("g") == 16);
    CHECK_FALSE(got.kept->is_whole());
    CHECK(got.body.data() == "g");
  }
  SECTION("with a piece that is not") {
    Received got("", 0, 16);
    got.read("0123456789abcdef");
    got.body.consume(14);
    CHECK(got.read("g") == 14);
    CHECK_FALSE(got.kept->is_whole());
    CHECK(got.body.data() == "efg");
  }
  SECTION("a limit below the buffer's size") {
    Received got("", 0, 4);
    got.read("01234");
    CHECK_FALSE(got.kept->is_whole());
    got.use_up();
    CHECK(got.read("5") == 16);
    CHECK(got.body.data() == "5");
  }
  SECTION("bytes that came with the head count") {
    Received got("0123456789", 0, 14);
    got.read("abcd");
    CHECK(got.kept->is_whole());
    got.use_up();
    got.read("e");
    CHECK_FALSE(got.kept->is_whole());
  }
  SECTION("no limit, nothing kept") {
    Received got("", 0, 0);
    CHECK_FALSE(got.kept->is_whole());
    CHECK(got.read("a") == 16);
  }
}

}  // namespace
}  // namespace weir::proxy
