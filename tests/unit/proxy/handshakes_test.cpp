#include "proxy/handshakes.hpp"

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/post.hpp>

#include "catch.hpp"
#include "unit/proxy/stream_pair.hpp"

namespace weir::proxy {
namespace {

using test::run;
using test::StreamPair;

struct Worker {
  explicit Worker(std::size_t most = 100)
      : handshakes(io, most, counters, [this] { log += " displaced"; }) {}

  asio::io_context io;
  std::string log;
  HandshakeCounters counters;
  Handshakes handshakes;
};

/// As a session: so many steps, then it ends.
Task<> shake(Worker& worker, Stream& stream, std::string name, int steps,
             Handshake** where = nullptr) {
  Handshake handshake(worker.handshakes, stream);
  if (where != nullptr) *where = &handshake;
  for (int i = 0; i < steps; ++i) {
    if (!co_await handshake.turn()) {
      worker.log += " !" + name;
      co_return;
    }
    worker.log += " " + name;
  }
  handshake.end(Handshake::Outcome::completed);
}

/// Takes one step and then waits for its client, as long as the connection is open.
Task<> stall(Worker& worker, Stream& stream, std::string name) {
  Handshake handshake(worker.handshakes, stream);
  if (!co_await handshake.turn()) co_return void(worker.log += " !" + name);
  worker.log += " " + name;
  error_code ec;
  co_await stream.socket().async_wait(Socket::wait_read, into(ec));
  worker.log += ec ? " -" + name : " +" + name;
}

/// Other work of the worker: a handler a pass.
void work(Worker& worker, int passes) {
  worker.log += " .";
  if (passes > 1) asio::post(worker.io, [&worker, passes] { work(worker, passes - 1); });
}

TEST_CASE("between two steps of handshakes everything else that is ready runs") {
  Worker worker;
  StreamPair pair(worker.io);
  for (const char* const name : {"a", "b", "c"})
    spawn(worker.io, shake(worker, pair.stream, name, 2));
  asio::post(worker.io, [&] { work(worker, 4); });
  asio::post(worker.io, [&] { work(worker, 4); });
  run(worker.io);
  CHECK(worker.log == " . . a . . a . . b . . b c c");
  CHECK(worker.counters.completed.value() == 3);
  CHECK(worker.counters.waiting.value() == 0);
  CHECK(worker.counters.in_progress.value() == 0);
}

TEST_CASE("a client whose bytes have arrived is served between two steps") {
  Worker worker;
  StreamPair pair(worker.io), client(worker.io);
  const auto serve = [](Worker& of, StreamPair& from) -> Task<> {
    std::array<char, 10> piece{};
    error_code ec;
    while (co_await from.stream.read(asio::buffer(piece), ec, false) > 0)
      of.log += " served";
  };
  spawn(worker.io, serve(worker, client));
  run(worker.io);
  for (const char* const name : {"a", "b", "c", "d"})
    spawn(worker.io, shake(worker, pair.stream, name, 1));
  client.far.send("x");
  run(worker.io);
  client.far.close();
  run(worker.io);
  CHECK((worker.log == " a served b c d" || worker.log == " served a b c d"));
}

TEST_CASE("one more than may be in progress closes the oldest, and is counted") {
  Worker worker(2);
  std::vector<std::unique_ptr<StreamPair>> pairs;
  for (const char* const name : {"a", "b", "c"}) {
    pairs.push_back(std::make_unique<StreamPair>(worker.io));
    spawn(worker.io, stall(worker, pairs.back()->stream, name));
    run(worker.io);
  }
  CHECK(worker.log == " a b displaced c -a");
  CHECK(pairs[0]->far.has_ended());
  CHECK_FALSE(pairs[1]->far.has_ended());
  CHECK(worker.counters.in_progress.value() == 2);
  CHECK(worker.counters.displaced.value() == 1);
  CHECK(worker.counters.failed.value() == 0);
  for (const auto& pair : pairs)
    pair->stream.close();
  run(worker.io);
  CHECK(worker.counters.failed.value() == 2);
}

TEST_CASE("the oldest is closed even while it waits for its turn") {
  Worker worker(1);
  StreamPair first(worker.io), second(worker.io);
  spawn(worker.io, shake(worker, first.stream, "a", 100));
  spawn(worker.io, stall(worker, second.stream, "b"));
  run(worker.io);
  CHECK(worker.log == " a a displaced b !a");
  CHECK_FALSE(first.stream.is_open());
  CHECK(worker.counters.displaced.value() == 1);
  second.stream.close();
  run(worker.io);
}

TEST_CASE("one whose time is over does not wait for its turn") {
  Worker worker;
  StreamPair pair(worker.io);
  Handshake* late = nullptr;
  spawn(worker.io, shake(worker, pair.stream, "a", 3));
  spawn(worker.io, shake(worker, pair.stream, "late", 1, &late));
  asio::post(worker.io, [&] {
    late->end(Handshake::Outcome::timed_out);
    late->give_up();
    late->give_up();
    CHECK(worker.log.empty());  // not within the call
  });
  run(worker.io);
  CHECK(worker.log.find(" !late") < worker.log.rfind(" a"));
  CHECK(worker.counters.timed_out.value() == 1);

  spawn(worker.io, [](Worker& of, Stream& stream) -> Task<> {
    Handshake handshake(of.handshakes, stream);
    handshake.give_up();
    CHECK_FALSE(co_await handshake.turn());
    of.log += " never";
  }(worker, pair.stream));
  run(worker.io);
  CHECK(worker.log.ends_with(" never"));
}

TEST_CASE("those that wait for their turn end with the worker") {
  auto ended = std::make_shared<int>(0);
  {
    asio::io_context io;
    HandshakeCounters counters;
    StreamPair pair(io);
    Handshakes handshakes(io, 100, counters, [] {});
    const auto wait = [](Handshakes& all, Stream& stream, std::shared_ptr<int> alive) -> Task<> {
      Handshake handshake(all, stream);
      co_await handshake.turn();
      ++*alive;
    };
    for (int i = 0; i < 3; ++i)
      spawn(io, wait(handshakes, pair.stream, ended));
    for (int i = 0; i < 3; ++i)
      io.poll_one();
    CHECK(counters.waiting.value() == 3);
    CHECK(ended.use_count() == 4);
  }
  CHECK(ended.use_count() == 1);
  CHECK(*ended == 0);
}

}  // namespace
}  // namespace weir::proxy
