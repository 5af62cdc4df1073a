#include "proxy/tunnel.hpp"

#include <array>
#include <optional>
#include <span>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::proxy {
namespace {

using loop::test::large_text;
using loop::test::run;
using loop::test::StreamPair;

constexpr std::uint64_t idle_ticks = 10;

/// A tunnel whose two far ends the test holds, with a deadline as in a client connection.
struct Tunnelled {
  struct Owner : Deadline {};

  Tunnelled() = default;
  /// One of several on a loop.
  Tunnelled(asio::io_context& its_io, std::span<char> its_scratch)
      : io(its_io), scratch(its_scratch) {}

  void start() {
    tunnel.emplace(io, scratch, Tunnel::Side{client.stream, from_client, up},
                   Tunnel::Side{upstream.stream, from_upstream, down},
                   TunnelIdle{.wheel = wheel, .deadline = owner, .ticks = idle_ticks});
    const auto carry = [](Tunnel& through, std::optional<bool>& how) -> loop::Task<> {
      const bool in_order = co_await through.run();
      how = in_order;
    };
    loop::spawn(io, carry(*tunnel, ended));
    run(io);
  }
  void tick(std::uint64_t count = 1) {
    for (; count > 0; --count) {
      wheel.advance(wheel.now() + 1, [this](Deadline&) {
        fired = true;
        client.stream.cancel();
        upstream.stream.cancel();
      });
      run(io);
    }
  }

  asio::io_context own_io;
  asio::io_context& io = own_io;
  std::array<char, 65536> own_scratch{};
  std::span<char> scratch = own_scratch;
  StreamPair client{io}, upstream{io};
  loop::InputBuffer from_client{4096}, from_upstream{16384};
  std::uint64_t up = 0, down = 0;
  DeadlineWheel wheel;
  Owner owner;
  std::optional<Tunnel> tunnel;
  std::optional<bool> ended;  ///< set at the end: true if it ended in order
  bool fired = false;
};

TEST_CASE("a tunnel carries bytes as they are, both ways") {
  Tunnelled t;
  t.start();
  const std::string odd("\0\r\n\r\nGET / HTTP/1.1\r\n\xff", 22);
  t.client.far.send(odd);
  t.upstream.far.send("answer");
  run(t.io);
  CHECK(t.upstream.far.receive() == odd);
  CHECK(t.client.far.receive() == "answer");
  CHECK(t.up == odd.size());
  CHECK(t.down == 6);
  CHECK_FALSE(t.ended);
}

TEST_CASE("what arrived before the tunnel goes first") {
  Tunnelled t;
  t.from_client.append("one ");
  t.from_upstream.append("uno ");
  t.client.far.send("two");
  t.upstream.far.send("due");
  t.start();
  CHECK(t.upstream.far.receive() == "one two");
  CHECK(t.client.far.receive() == "uno due");
  CHECK(t.up == 7);
}

TEST_CASE("a tunnel keeps no memory for what arrived before it, however much it was") {
  Tunnelled t;
  t.from_client.append(large_text(5000));
  t.from_upstream.append(large_text(65536));
  t.start();
  CHECK_FALSE(t.from_client.has_memory());
  CHECK_FALSE(t.from_upstream.has_memory());
  CHECK(t.upstream.far.receive() == large_text(5000));
  CHECK(t.client.far.receive() == large_text(65536));
}

TEST_CASE("tunnels that read into the same memory carry their own bytes") {
  std::array<char, 16> shared{};
  asio::io_context io;
  Tunnelled one(io, shared);
  Tunnelled two(io, shared);
  one.start();
  two.start();
  const std::string text = large_text(1000);
  const std::string other(1000, 'x');
  one.client.far.send(text);
  two.client.far.send(other);
  two.upstream.far.send("short");
  run(io);
  CHECK(one.upstream.far.receive() == text);
  CHECK(two.upstream.far.receive() == other);
  CHECK(two.client.far.receive() == "short");
}

TEST_CASE("a tunnel holds back who sends more than the other side takes") {
  Tunnelled t;
  t.start();
  const std::string text = large_text();
  std::string_view unsent = text;
  std::string got;
  const auto send = [&] {
    const ssize_t n = ::send(t.upstream.far.native(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (n > 0) unsent.remove_prefix(static_cast<std::size_t>(n));
    run(t.io);
    return n > 0;
  };
  while (send()) {
  }
  CHECK(unsent.size() > text.size() / 3);  // the other side does not read, so no more is accepted
  CHECK_FALSE(t.from_upstream.has_memory());
  t.client.far.send("the other way is free");
  run(t.io);
  CHECK(t.upstream.far.receive() == "the other way is free");
  while (got.size() < text.size()) {
    const std::string piece = t.client.far.receive(100'000);
    REQUIRE_FALSE(piece.empty());
    got += piece;
    run(t.io);
    if (!unsent.empty()) send();
  }
  CHECK(got == text);
  CHECK(t.down == text.size());
}

TEST_CASE("the end of one side goes on to the other, which may go on sending") {
  Tunnelled t;
  t.start();
  t.client.far.send("last");
  t.client.far.end_sending();
  run(t.io);
  CHECK(t.upstream.far.receive() == "last");
  CHECK(t.upstream.far.has_ended());
  CHECK_FALSE(t.ended);
  t.upstream.far.send("more");
  run(t.io);
  CHECK(t.client.far.receive() == "more");
  t.upstream.far.end_sending();
  run(t.io);
  CHECK(t.client.far.has_ended());
  CHECK(t.ended == true);
}

TEST_CASE("the upstream may end first, too") {
  Tunnelled t;
  t.start();
  t.upstream.far.end_sending();
  run(t.io);
  CHECK(t.client.far.has_ended());
  CHECK_FALSE(t.ended);
  t.client.far.send("still");
  t.client.far.end_sending();
  run(t.io);
  CHECK(t.upstream.far.receive() == "still");
  CHECK(t.ended == true);
}

TEST_CASE("a side that is broken ends both, and not in order") {
  Tunnelled t;
  t.start();
  t.upstream.far.close();  // bytes from the client cannot be written
  run(t.io);
  CHECK_FALSE(t.ended);
  t.client.far.send("lost");
  run(t.io);
  CHECK(t.ended == false);
}

TEST_CASE("a tunnel through which nothing passes ends, however long it was busy") {
  Tunnelled t;
  t.start();
  for (int i = 0; i < 5; ++i) {
    t.tick(idle_ticks);
    (i % 2 == 0 ? t.client : t.upstream).far.send("x");
    run(t.io);
  }
  CHECK_FALSE(t.fired);
  CHECK_FALSE(t.ended);
  t.tick(idle_ticks);
  CHECK_FALSE(t.fired);
  t.tick();
  CHECK(t.fired);
  CHECK(t.ended == false);
  CHECK_FALSE(t.tunnel->has_lost_bytes());
}

TEST_CASE("a tunnel that ends before one side has accepted all bytes has lost some") {
  Tunnelled t;
  t.start();
  const std::string text = large_text();
  while (::send(t.upstream.far.native(), text.data(), text.size(), MSG_NOSIGNAL) > 0)
    run(t.io);
  CHECK_FALSE(t.tunnel->has_lost_bytes());
  t.tick(idle_ticks + 1);
  CHECK(t.fired);
  CHECK(t.ended == false);
  CHECK(t.tunnel->has_lost_bytes());
}

TEST_CASE("a tunnel whose other half has ended ends, too") {
  Tunnelled t;
  t.start();
  t.client.far.end_sending();
  run(t.io);
  t.tick(idle_ticks + 1);
  CHECK(t.fired);
  CHECK(t.ended == false);
}

TEST_CASE("a tunnel ends when its streams are closed, whatever it waits for") {
  for (const bool is_writing : {false, true}) {
    Tunnelled t;
    if (is_writing) t.from_upstream.append(large_text(2'000'000));
    t.start();
    CHECK_FALSE(t.ended);
    t.client.stream.close();
    t.upstream.stream.close();
    run(t.io);
    CHECK(t.ended == false);
  }
}

}  // namespace
}  // namespace weir::proxy
