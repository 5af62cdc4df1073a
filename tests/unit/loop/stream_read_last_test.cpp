// ReadTime::last: tasks of a loop that read into the same memory.
#include <array>
#include <string>

#include "unit/loop/secure_pair.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using test::SecurePair;
using test::StreamPair;

/// What a task has read until the end or an error.
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

TEST_CASE("tasks that read last do not overwrite what another has read into the same memory") {
  asio::io_context io;
  StreamPair one(io);
  StreamPair two(io);
  Shared shared{};
  Collected of_one;
  Collected of_two;
  one.far.send("first");
  two.far.send("second");
  spawn_collect(io, one.stream, shared, of_one);
  spawn_collect(io, two.stream, shared, of_two);
  run(io);
  CHECK(of_one.data == "first");
  CHECK(of_two.data == "second");
  one.far.send(" more");
  two.far.send(" again");
  run(io);
  CHECK(of_one.data == "first more");
  CHECK(of_two.data == "second again");
  one.far.close();
  run(io);
  CHECK(of_one.end == asio::error::eof);
  CHECK_FALSE(of_two.end);
}

TEST_CASE("what does not fit in one read is read in the next ones, and others run between") {
  asio::io_context io;
  StreamPair one(io);
  StreamPair two(io);
  Shared shared{};
  Collected of_one;
  Collected of_two;
  const std::string text = test::large_text(1000);
  one.far.send(text);
  two.far.send("short");
  spawn_collect(io, one.stream, shared, of_one);
  spawn_collect(io, two.stream, shared, of_two);
  while (of_two.data.empty()) {
    io.restart();
    REQUIRE(io.poll_one() == 1);
  }
  CHECK(of_one.data.size() <= 2 * shared.size());
  run(io);
  CHECK(of_one.data == text);
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
