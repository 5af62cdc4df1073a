#include "loop/task.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "catch.hpp"
#include "loop/io.hpp"
#include "loop/turns.hpp"

namespace weir::loop {
namespace {

/// Stands for anything that a task waits for.
struct Gate {
  class Wait {
   public:
    explicit Wait(Gate& gate) : gate_(gate) {}
    bool await_ready() const { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) {
      gate_.waiting = Suspended(task);
    }
    void await_resume() const {}

   private:
    Gate& gate_;
  };
  Wait pass() { return Wait(*this); }

  Suspended waiting;
};

/// Writes its name when it is destroyed.
struct Mourned {
  std::string& log;
  char name;
  ~Mourned() { log += name; }
};

Task<int> at_once(int value) {
  co_return value;
}

Task<int> after(Gate& gate, int value) {
  co_await gate.pass();
  co_return value;
}

Task<> add_up(Gate& gate, std::string& log) {
  const int first = co_await at_once(1);
  log += "before ";
  const int second = co_await after(gate, 2);
  log += std::to_string(first + second);
}

Task<> wait_below(Gate& gate, std::string& log) {
  const Mourned inner{log, 'i'};
  co_await gate.pass();
}

Task<> wait_above(Gate& gate, std::string& log) {
  const Mourned outer{log, 'o'};
  co_await wait_below(gate, log);
  log += "never";
}

Task<std::size_t> sum_of(int count) {
  std::size_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += static_cast<std::size_t>(co_await at_once(1));
  co_return sum;
}

Task<> store_sum(int count, Gate& gate, std::size_t& sum) {
  // Once within the awaiting coroutine, once resumed from the loop.
  const std::size_t first = co_await sum_of(count);
  co_await gate.pass();
  const std::size_t second = co_await sum_of(count);
  sum = first + second;
}

TEST_CASE("a task runs until it has to wait, and its awaiter with it") {
  asio::io_context io;
  Gate gate;
  std::string log;
  spawn(io, add_up(gate, log));
  CHECK(log.empty());  // not before the loop runs
  io.poll();
  CHECK(log == "before ");
  gate.waiting.resume();
  CHECK(log == "before 3");
}

TEST_CASE("a task that is never resumed is destroyed with the tasks that wait for it") {
  asio::io_context io;
  std::string log;
  {
    Gate gate;
    spawn(io, wait_above(gate, log));
    io.poll();
    CHECK(log.empty());
  }
  CHECK(log == "io");
}

TEST_CASE("a loop that goes away ends the tasks whose operations it drops") {
  std::string log;
  auto wait = [](asio::io_context& io, std::string& to) -> Task<> {
    const Mourned task{to, 't'};
    Timer timer(io.get_executor(), std::chrono::hours(1));
    error_code ec;
    co_await timer.async_wait(into(ec));
    to += "never";
  };
  {
    asio::io_context io;
    spawn(io, wait(io, log));
    io.poll();
    CHECK(log.empty());
  }
  CHECK(log == "t");
}

TEST_CASE("an exception of a task reaches its awaiter, at once or after a wait") {
  asio::io_context io;
  Gate gate;
  std::string log;
  auto fail = [](Gate* first, std::string& to) -> Task<int> {
    const Mourned task{to, 't'};
    if (first != nullptr) co_await first->pass();
    throw std::runtime_error("thrown");
  };
  auto pass_on = [&](Gate* first, std::string& to) -> Task<> {
    const Mourned between{to, 'b'};
    co_await fail(first, to);
    to += "never";
  };
  auto seize = [&](Gate* first, std::string& to) -> Task<> {
    try {
      co_await pass_on(first, to);
    } catch (const std::runtime_error& error) {
      to += error.what();
    }
    to += ' ';
  };
  spawn(io, seize(nullptr, log));
  spawn(io, seize(&gate, log));
  io.poll();
  CHECK(log == "tbthrown ");
  gate.waiting.resume();
  CHECK(log == "tbthrown tbthrown ");
}

TEST_CASE("a task that was never begun is dropped") {
  Gate gate;
  std::string log;
  { const auto task = wait_above(gate, log); }
  CHECK(log.empty());
}

TEST_CASE("a long row of tasks that need not wait does not grow the stack") {
  asio::io_context io;
  Gate gate;
  std::size_t sum = 0;
  constexpr int count = 1'000'000;
  spawn(io, store_sum(count, gate, sum));
  io.poll();
  gate.waiting.resume();
  CHECK(sum == 2 * count);
}

TEST_CASE("the error and the result of an operation") {
  asio::io_context io;
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  using UnixSocket = asio::local::stream_protocol::socket;
  UnixSocket near(io, asio::local::stream_protocol(), ends[0]);
  UnixSocket far(io, asio::local::stream_protocol(), ends[1]);
  std::string log;
  auto read = [](UnixSocket& from, std::string& to) -> Task<> {
    char room[8];
    for (error_code ec; !ec;) {
      const std::size_t n = co_await from.async_read_some(asio::buffer(room), into(ec));
      to.append(room, n);
      if (ec == asio::error::eof) to += '.';
    }
  };
  spawn(io, read(near, log));
  io.poll();
  far.write_some(asio::buffer("ab", 2));
  io.poll();
  CHECK(log == "ab");
  far.close();
  io.poll();
  CHECK(log == "ab.");
}

TEST_CASE("who takes a turn goes on when all that was ready before has run") {
  asio::io_context io;
  Turns turns(io);
  std::string log;
  auto take = [](Turns& of, std::string& to, char name, int count) -> Task<> {
    for (int i = 0; i < count; ++i) {
      co_await of.next();
      to += name;
    }
  };
  spawn(io, take(turns, log, 'a', 2));
  spawn(io, take(turns, log, 'b', 1));
  asio::post(io, [&] { log += 'x'; });
  io.poll();
  CHECK(log == "xaba");
}

TEST_CASE("a pass has an end: what else was ready comes between") {
  asio::io_context io;
  Turns turns(io);
  std::string log;
  auto take = [](Turns& of, std::string& to) -> Task<> {
    co_await of.next();
    to += 'a';
  };
  for (int i = 0; i < 65; ++i)
    spawn(io, take(turns, log));
  io.poll_one();  // the first takes its turn, and the pass is requested
  asio::post(io, [&] { log += 'x'; });
  io.poll();
  CHECK(log == std::string(64, 'a') + "xa");
}

}  // namespace
}  // namespace weir::loop
