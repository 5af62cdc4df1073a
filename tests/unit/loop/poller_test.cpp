#include "loop/poller.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/un.h>
#include <vector>

#include "catch.hpp"
#include "loop/socket.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using test::StreamPair;

/// Reads until an error, and logs each piece and the error.
Task<> read_all(Stream& from, std::string& log) {
  std::array<char, 4> room{};
  for (error_code ec; !ec;) {
    const std::size_t n = co_await from.read(asio::buffer(room), ec);
    if (n > 0) log += "[" + std::string(room.data(), n) + "]";
    if (ec == asio::error::eof) log += ".";
    if (ec == asio::error::operation_aborted) log += "-";
  }
}

TEST_CASE("data and the end of a connection are read, however they arrive") {
  asio::io_context io;
  StreamPair pair(io);
  std::string log;
  SECTION("before the first read") {
    pair.far.send("abc");
    pair.far.close();
    spawn(io, read_all(pair.stream, log));
    run(io);
  }
  SECTION("in one event") {
    spawn(io, read_all(pair.stream, log));
    run(io);
    pair.far.send("abc");
    pair.far.close();
    run(io);
  }
  SECTION("in two events") {
    spawn(io, read_all(pair.stream, log));
    run(io);
    pair.far.send("abc");
    run(io);
    CHECK(log == "[abc]");
    pair.far.close();
    run(io);
  }
  CHECK(log == "[abc].");
}

TEST_CASE("more than a read takes is read without another event") {
  asio::io_context io;
  StreamPair pair(io);
  std::string log;
  spawn(io, read_all(pair.stream, log));
  run(io);
  pair.far.send("abcdefgh");
  run(io);
  CHECK(log == "[abcd][efgh]");
  pair.far.send("i");
  run(io);
  CHECK(log == "[abcd][efgh][i]");
}

TEST_CASE("a read that takes less than it could leaves nothing to read until the next event") {
  asio::io_context io;
  StreamPair pair(io);
  std::array<char, 4> room{};
  error_code ec;
  pair.far.send("abc");
  CHECK(pair.stream.try_read(asio::buffer(room), ec) == 3);
  CHECK_FALSE(pair.stream.socket().is_ready(Direction::read));
  pair.far.send("d");
  CHECK(pair.stream.try_read(asio::buffer(room), ec) == 0);
  CHECK(ec == asio::error::would_block);
  std::string log;
  spawn(io, read_all(pair.stream, log));
  run(io);
  CHECK(log == "[d]");
}

TEST_CASE("the loop has work while an operation waits, and no longer") {
  asio::io_context io;
  StreamPair pair(io);
  std::string log;
  spawn(io, read_all(pair.stream, log));
  SECTION("it completes") {
    pair.far.close();
    io.run();
    CHECK(log == ".");
  }
  SECTION("it is cancelled") {
    io.poll();
    CHECK_FALSE(io.stopped());
    pair.stream.cancel();
    io.run();
    CHECK(log == "-");
  }
  SECTION("the stream is closed") {
    io.poll();
    CHECK_FALSE(io.stopped());
    pair.stream.close();
    io.run();
    CHECK(log == "-");
  }
}

TEST_CASE("a cancelled loop waits again for another operation") {
  asio::io_context io;
  StreamPair first(io);
  StreamPair second(io);
  std::string log;
  spawn(io, read_all(first.stream, log));
  io.poll();
  first.stream.cancel();
  spawn(io, read_all(second.stream, log));
  io.poll();
  second.far.send("b");
  run(io);
  CHECK(log == "-[b]");
}

TEST_CASE("a task may close a socket whose event is still to be reported") {
  asio::io_context io;
  std::vector<std::unique_ptr<StreamPair>> pairs;
  std::string log;
  // The one that is reported first closes the other one.
  auto close_other = [](std::vector<std::unique_ptr<StreamPair>>& all, std::size_t own,
                        std::string& to) -> Task<> {
    std::array<char, 4> room{};
    error_code ec;
    co_await all[own]->stream.read(asio::buffer(room), ec);
    to += ec ? "-" : "+";
    if (!ec) all[1 - own]->stream.close();
  };
  for (std::size_t i = 0; i < 2; ++i)
    pairs.push_back(std::make_unique<StreamPair>(io));
  for (std::size_t i = 0; i < 2; ++i)
    spawn(io, close_other(pairs, i, log));
  run(io);
  for (auto& pair : pairs)
    pair->far.send("a");
  run(io);
  CHECK(log == "+-");
}

TEST_CASE("a reader and a writer wait at the same time") {
  asio::io_context io;
  StreamPair pair(io);
  const std::string text = test::large_text();
  std::string log;
  auto write = [](Stream& to, const std::string& data, std::string& into) -> Task<> {
    const error_code ec = co_await to.write(data);
    into += ec ? "!" : "w";
  };
  spawn(io, read_all(pair.stream, log));
  spawn(io, write(pair.stream, text, log));
  run(io);
  CHECK(log.empty());
  pair.far.send("a");
  run(io);
  CHECK(log == "[a]");
  std::string received;
  while (received.size() < text.size()) {
    received += pair.far.receive();
    run(io);
  }
  CHECK(received == text);
  CHECK(log == "[a]w");
  pair.far.close();
  run(io);
  CHECK(log == "[a]w.");
}

TEST_CASE("tasks that wait end with the loop") {
  bool has_ended = false;
  struct Guard {
    bool& flag;
    ~Guard() { flag = true; }
  };
  auto wait = [](std::unique_ptr<StreamPair> pair, bool& flag) -> Task<> {
    const Guard guard{flag};
    std::array<char, 4> room{};
    error_code ec;
    co_await pair->stream.read(asio::buffer(room), ec);
  };
  {
    asio::io_context io;
    spawn(io, wait(std::make_unique<StreamPair>(io), has_ended));
    run(io);
    CHECK_FALSE(has_ended);
  }
  CHECK(has_ended);
}

TEST_CASE("a socket may outlive the loop's end of the task that waits for it") {
  auto asio_waits = [](asio::io_context& io, std::unique_ptr<StreamPair> pair,
                       std::string& log) -> Task<> {
    spawn(io, read_all(pair->stream, log));
    error_code ec;
    Timer never(io.get_executor(), Timer::time_point::max());
    co_await never.async_wait(into(ec));
  };
  std::string log;
  {
    asio::io_context io;
    spawn(io, asio_waits(io, std::make_unique<StreamPair>(io), log));
    run(io);
  }
  CHECK(log.empty());
}

TEST_CASE("a writer that waits for data does not displace the reader") {
  asio::io_context io;
  StreamPair pair(io);
  std::string log;
  auto write = [](Stream& to, std::string& into) -> Task<> {
    error_code ec;
    to.socket().emptied();
    co_await to.socket().wait(Direction::write, Direction::read, ec);
    into += ec ? "w-" : "w";
  };
  spawn(io, read_all(pair.stream, log));
  run(io);
  spawn(io, write(pair.stream, log));
  run(io);
  SECTION("data resumes both") {
    pair.far.send("a");
    run(io);
    CHECK(log == "[a]w");
    pair.far.close();
    run(io);
    CHECK(log == "[a]w.");
  }
  SECTION("cancel() ends both") {
    pair.stream.cancel();
    io.restart();
    io.run();
    CHECK(log == "-w-");
  }
}

TEST_CASE("a reader tries again if others have read for it") {
  asio::io_context io;
  StreamPair pair(io);
  std::string log;
  spawn(io, read_all(pair.stream, log));
  run(io);
  SECTION("there is nothing") {
    pair.stream.socket().retry_reader();
    pair.stream.socket().retry_reader();
    run(io);
    CHECK(log.empty());
    pair.far.send("a");
    run(io);
    CHECK(log == "[a]");
  }
  SECTION("it is cancelled first") {
    pair.stream.socket().retry_reader();
    pair.stream.cancel();
    io.restart();
    io.run();
    CHECK(log == "-");
  }
}

TEST_CASE("a listening socket that another descriptor keeps open has no events once it is closed") {
  asio::io_context io;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("weir-poller-" + std::to_string(::getpid())))
          .string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const Descriptor other(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
  REQUIRE(::bind(other.native(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(other.native(), 4) == 0);
  auto wait = [](Socket& socket, std::string& to) -> Task<> {
    error_code ec;
    sockaddr_storage peer{};
    socket.accept(peer, ec);
    co_await socket.wait(Direction::read, ec);
    to += ec ? "-" : "+";
  };
  std::string log;
  StreamPair pair(io);
  spawn(io, read_all(pair.stream, log));
  {
    Socket listening(io, Descriptor(::dup(other.native())));
    spawn(io, wait(listening, log));
    run(io);
  }
  run(io);
  CHECK(log == "-");
  const Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
  CHECK(::connect(client.native(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  run(io);  // a sanitizer reports an event for the socket that is gone
  pair.far.send("a");
  run(io);
  CHECK(log == "-[a]");
  std::filesystem::remove(path);
}

TEST_CASE("nothing is known of a socket if there may be more events than a pass reads") {
  asio::io_context io;
  StreamPair idle(io);
  std::string log;
  spawn(io, read_all(idle.stream, log));
  std::vector<std::unique_ptr<StreamPair>> busy;
  std::size_t quiet = 0;
  auto ask = [](Stream& at, Stream& about, std::size_t& count) -> Task<> {
    std::array<char, 4> room{};
    error_code ec;
    co_await at.read(asio::buffer(room), ec);
    count += about.socket().is_quiet() ? 1 : 0;
  };
  for (std::size_t i = 0; i < Poller::events_at_once; ++i) {
    busy.push_back(std::make_unique<StreamPair>(io));
    spawn(io, ask(busy.back()->stream, idle.stream, quiet));
  }
  run(io);
  for (auto& pair : busy)
    pair->far.send("a");
  run(io);
  // The later passes have read all events.
  CHECK(quiet == Poller::events_at_once - Poller::normal_at_once);
}

TEST_CASE("a socket is quiet if no event of the pass is about it") {
  asio::io_context io;
  StreamPair asking(io);
  StreamPair idle(io);
  std::string log;
  spawn(io, read_all(idle.stream, log));
  std::optional<bool> is_quiet;
  auto ask = [](Stream& at, Stream& about, std::optional<bool>& to) -> Task<> {
    std::array<char, 4> room{};
    error_code ec;
    co_await at.read(asio::buffer(room), ec);
    to = about.socket().is_quiet();
  };
  spawn(io, ask(asking.stream, idle.stream, is_quiet));
  run(io);
  CHECK_FALSE(idle.stream.socket().is_quiet());  // not known outside of a pass
  bool expected = true;
  SECTION("nothing happened") {}
  SECTION("the other side has closed, reported later in the same pass") {
    expected = false;
  }
  asking.far.send("a");
  if (!expected) idle.far.close();
  run(io);
  CHECK(is_quiet == expected);
}

TEST_CASE("a socket without a registration is not known to be quiet") {
  asio::io_context io;
  StreamPair pair(io);
  std::array<char, 4> room{};
  error_code ec;
  pair.stream.try_read(asio::buffer(room), ec);
  CHECK_FALSE(pair.stream.socket().is_quiet());
  CHECK(pair.stream.is_quiet());  // looks at the socket itself
}

}  // namespace
}  // namespace weir::loop
