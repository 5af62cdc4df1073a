// ReadTime::last: tasks of a loop that read into the same memory.
#include <array>
#include <string>

#include "catch.hpp"
#include "unit/loop/secure_pair.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using test::SecurePair;
using test::StreamPair;

/// The bytes that a task has read before the end or an error.
struct Collected {
  std::string data;
  std::optional<error_code> end;
};

using Shared = std::array<char, 8>;

void spawn_collect(asio::io_context& io, Stream& stream, Shared& shared, Collected& collected) {
  const auto collect = [](Stream& from, Shared& room, Collected& to) -> Task<> {
    error_code ec;
    while (!ec) {
      const std::size_t n = co_await from.read(asio::buffer(room), ec, ReadTime::last);
      to.data.append(room.data(), n);
    }
    to.end = ec;
  };
  spawn(io, collect(stream, shared, collected));
}

/// Two streams whose tasks read into the same memory.
struct TwoReaders {
  void start() {
    spawn_collect(io, one.stream, shared, of_one);
    spawn_collect(io, two.stream, shared, of_two);
  }

  asio::io_context io;
  StreamPair one{io}, two{io};
  Shared shared{};
  Collected of_one, of_two;
};

TEST_CASE("tasks that read last do not overwrite what another has read into the same memory") {
  TwoReaders t;
  t.one.far.send("first");
  t.two.far.send("second");
  t.start();
  run(t.io);
  CHECK(t.of_one.data == "first");
  CHECK(t.of_two.data == "second");
  t.one.far.send(" more");
  t.two.far.send(" again");
  run(t.io);
  CHECK(t.of_one.data == "first more");
  CHECK(t.of_two.data == "second again");
  t.one.far.close();
  run(t.io);
  CHECK(t.of_one.end == asio::error::eof);
  CHECK_FALSE(t.of_two.end);
}

TEST_CASE("what does not fit in one read is read in the next ones, and others run between") {
  TwoReaders t;
  const std::string text = test::large_text(1000);
  t.one.far.send(text);
  t.two.far.send("short");
  t.start();
  while (t.of_two.data.empty()) {
    t.io.restart();
    REQUIRE(t.io.poll_one() == 1);
  }
  CHECK(t.of_one.data.size() <= 2 * t.shared.size());
  run(t.io);
  CHECK(t.of_one.data == text);
}

TEST_CASE("over TLS, reading last takes what OpenSSL has read ahead") {
  asio::io_context io;
  SecurePair pair(io);
  pair.shake_hands();
  error_code ec;
  pair.server->try_write("one record of several reads", ec);
  REQUIRE_FALSE(ec);
  Shared shared{};
  Collected collected;
  spawn_collect(io, *pair.client, shared, collected);
  run(io);
  CHECK(collected.data == "one record of several reads");
  pair.server->try_write(", and another", ec);
  run(io);
  CHECK(collected.data == "one record of several reads, and another");
  CHECK_FALSE(collected.end);
  pair.client->cancel();
  run(io);
  CHECK(collected.end == asio::error::operation_aborted);
}

TEST_CASE("reading last from a closed stream is an error, and so is cancelling it") {
  asio::io_context io;
  StreamPair pair(io);
  Shared shared{};
  Collected cancelled;
  pair.far.send("unread");
  spawn_collect(io, pair.stream, shared, cancelled);
  io.poll_one();  // it waits for its turn
  pair.stream.cancel();
  run(io);
  CHECK(cancelled.end == asio::error::operation_aborted);
  Collected closed;
  pair.stream.close();
  spawn_collect(io, pair.stream, shared, closed);
  run(io);
  CHECK(closed.end == asio::error::operation_aborted);
  CHECK(closed.data.empty());
}

}  // namespace
}  // namespace weir::loop
