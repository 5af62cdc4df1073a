// The order in which a pass of the poller serves sockets.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "catch.hpp"
#include "loop/poller.hpp"
#include "loop/socket.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using test::StreamPair;

/// Streams with a reader that logs the stream's name once, when it has read.
class Named {
 public:
  explicit Named(asio::io_context& its_io) : io(its_io) {}

  StreamPair& add(char name, Priority priority = Priority::normal) {
    StreamPair& pair = *pairs.emplace_back(std::make_unique<StreamPair>(io));
    pair.stream.socket().set_priority(priority);
    spawn(io, note(pair.stream, name));
    return pair;
  }
  Task<> note(Stream& stream, char name) {
    std::array<char, 4> room{};
    error_code ec;
    co_await stream.read(asio::buffer(room), ec);
    log += ec ? '-' : name;
    if (when_read) when_read(name);
  }

  asio::io_context& io;
  std::vector<std::unique_ptr<StreamPair>> pairs;
  std::function<void(char)> when_read;
  std::string log;
};

TEST_CASE("sockets of high priority are served first") {
  asio::io_context io;
  Named named(io);
  const std::array<StreamPair*, 4> all{&named.add('a'), &named.add('b', Priority::high),
                                       &named.add('c'), &named.add('d', Priority::high)};
  run(io);
  for (const StreamPair* pair : all)
    pair->far.send("x");
  run(io);
  CHECK(named.log == "bdac");
}

TEST_CASE("a pass serves a bounded number of sockets of normal priority") {
  asio::io_context io;
  Named named(io);
  const std::size_t count = Poller::normal_at_once;
  std::vector<StreamPair*> normal;
  for (std::size_t i = 0; i < 2 * count; ++i)
    normal.push_back(&named.add('n'));
  StreamPair& high = named.add('H', Priority::high);
  StreamPair& late = named.add('l');
  run(io);
  bool is_first = true;
  named.when_read = [&](char) {
    if (!std::exchange(is_first, false)) return;
    high.far.send("x");
    late.far.send("x");
    normal.back()->far.send("y");  // another event of a socket that is queued
  };
  for (const StreamPair* pair : normal)
    pair->far.send("x");
  SECTION("those that are ready meanwhile and of high priority do not wait for the others") {
    run(io);
    CHECK(named.log == std::string(count, 'n') + "H" + std::string(count, 'n') + "l");
  }
  SECTION("a queued one may be cancelled or closed") {
    named.when_read = [&](char) {
      if (!std::exchange(is_first, false)) return;
      normal[count]->stream.cancel();
      normal[count + 1]->stream.close();
    };
    run(io);
    CHECK(named.log == std::string(count, 'n') + "--" + std::string(count - 2, 'n'));
  }
  SECTION("the loop may end before the others") {
    named.when_read = [&](char) { io.stop(); };
    io.restart();
    io.poll();
    CHECK(named.log == std::string(count, 'n'));
  }
}

/// Logs when it is served.
struct Served final : Interleaved {
  explicit Served(std::string& its_log) : log(its_log) {}
  void serve() noexcept override {
    log += '|';
    if (when_served) when_served();
  }
  std::string& log;
  std::function<void()> when_served;
};

TEST_CASE("an interleaved object is served first, and again after every few dozen operations") {
  asio::io_context io;
  Named named(io);
  const std::size_t count = Poller::interleave_after;
  const Priority priority = GENERATE(Priority::high, Priority::normal);
  std::vector<StreamPair*> all;
  for (std::size_t i = 0; i < 2 * count; ++i)
    all.push_back(&named.add('n', priority));
  run(io);
  auto served = std::make_unique<Served>(named.log);
  asio::use_service<Poller>(io).interleave(*served);
  for (const StreamPair* pair : all)
    pair->far.send("x");
  const std::string some(count, 'n');
  SECTION("each time") {
    run(io);
    std::string log = named.log;
    // A pass that begins with it just served may serve it again.
    log.erase(
        std::unique(log.begin(), log.end(), [](char a, char b) { return a == b && a == '|'; }),
        log.end());
    CHECK(log == "|" + some + "|" + some + "|");
  }
  SECTION("until it is destroyed, also by itself") {
    served->when_served = [&] { served.reset(); };
    run(io);
    CHECK(named.log == "|" + some + some);
  }
}

TEST_CASE("a pass that is due for a cancelled operation serves the others") {
  asio::io_context io;
  Named named(io);
  const std::size_t count = Poller::normal_at_once;
  std::vector<StreamPair*> first;
  std::vector<StreamPair*> others;
  for (std::size_t i = 0; i < count + 1; ++i)
    first.push_back(&named.add('f'));
  for (std::size_t i = 0; i < 2 * count; ++i)
    others.push_back(&named.add('o'));
  named.add('i');  // waits all the time
  run(io);
  bool is_first = true;
  named.when_read = [&](char) {
    if (!std::exchange(is_first, false)) return;
    // Runs before the next pass, which is posted at the end of this one.
    asio::post(io, [&] {
      first.back()->stream.cancel();  // the only one that is queued
      for (const StreamPair* pair : others)
        pair->far.send("x");
    });
  };
  for (const StreamPair* pair : first)
    pair->far.send("x");
  for (int i = 0; i < 10; ++i)
    run(io);
  CHECK(std::count(named.log.begin(), named.log.end(), 'o') == static_cast<int>(2 * count));
}

}  // namespace
}  // namespace weir::loop
