#include "loop/handshakes.hpp"

#include <fcntl.h>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using test::StreamPair;

/// The events in their order, from any thread.
class Log {
 public:
  Log& operator+=(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ += text;
    return *this;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct Worker {
  explicit Worker(std::size_t most = 100)
      : handshakes(io, most, counters, [this] { log += " displaced"; }) {}

  /// Runs until each task only waits for its client.
  void run() {
    test::run(io);
    while (busy > 0) {
      io.restart();
      io.run_one();
    }
    test::run(io);
  }

  asio::io_context io;
  Log log;
  HandshakeCounters counters;
  int busy = 0;  ///< tasks that wait for a step
  Handshakes handshakes;
};

/// Awaits a step in the same way as a stream.
template <class Work>
Task<bool> take_step(Worker& worker, Handshake& handshake, Work work) {
  ++worker.busy;
  const bool has_stepped = co_await handshake.step(work);
  --worker.busy;
  co_return has_stepped;
}

/// Takes a number of steps and then ends, as a connection does.
Task<> shake(Worker& worker, Stream& stream, std::string name, int steps,
             Handshake** where = nullptr) {
  Handshake handshake(worker.handshakes, stream, false);
  if (where != nullptr) *where = &handshake;
  for (int i = 0; i < steps; ++i) {
    const auto work = [&] { worker.log += " " + name; };
    if (!co_await take_step(worker, handshake, work)) {
      worker.log += " !" + name;
      co_return;
    }
  }
  handshake.end(Handshake::Outcome::completed);
}

/// Takes one step and then waits for its client while the connection is open.
Task<> stall(Worker& worker, Stream& stream, std::string name) {
  Handshake handshake(worker.handshakes, stream, false);
  const auto work = [&] { worker.log += " " + name; };
  if (!co_await take_step(worker, handshake, work)) co_return void(worker.log += " !" + name);
  error_code ec;
  stream.socket().emptied();
  co_await stream.socket().wait(Direction::read, ec);
  worker.log += ec ? " -" + name : " +" + name;
}

/// A step that runs on the thread until the test lets it end.
struct Held {
  explicit Held(Worker& of) : worker(of) {}

  /// A handshake with expensive steps: its first one is held, then it waits for its client.
  static Task<> shake(Held& held, Stream& stream) {
    Handshake handshake(held.worker.handshakes, stream, true);
    held.handshake = &handshake;
    const auto work = [&] {
      held.is_on_thread = std::this_thread::get_id() != held.loop;
      held.has_begun.release();
      if (held.is_on_thread) held.may_end.acquire();
      held.worker.log += " held";
    };
    const bool has_stepped = co_await take_step(held.worker, handshake, work);
    held.worker.log += has_stepped ? " stepped" : " !held";
    error_code ec;
    stream.socket().emptied();
    if (has_stepped) co_await stream.socket().wait(Direction::read, ec);
    held.handshake = nullptr;
  }
  /// Runs until the step is running.
  void begin(Stream& stream) {
    spawn(worker.io, shake(*this, stream));
    test::run(worker.io);
    has_begun.acquire();
    REQUIRE(is_on_thread);
  }
  void end() {
    may_end.release();
    worker.run();
  }

  Worker& worker;
  std::thread::id loop = std::this_thread::get_id();
  Handshake* handshake = nullptr;
  std::binary_semaphore has_begun{0}, may_end{0};
  bool is_on_thread = false;
};

bool is_descriptor(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

/// Simulates other work of the worker: one handler per pass.
void work(Worker& worker, int passes) {
  worker.log += " .";
  if (passes > 1) asio::post(worker.io, [&worker, passes] { work(worker, passes - 1); });
}

TEST_CASE("a step that is cheap and alone runs on the loop, and one at a time") {
  Worker worker;
  StreamPair pair(worker.io);
  const auto loop = std::this_thread::get_id();
  std::vector<std::thread::id> ran_on;
  const auto one = [](Worker& of, Stream& stream, std::vector<std::thread::id>& threads) -> Task<> {
    Handshake handshake(of.handshakes, stream, false);
    for (int i = 0; i < 3; ++i) {
      const auto note = [&] { threads.push_back(std::this_thread::get_id()); };
      co_await take_step(of, handshake, note);
    }
  };
  spawn(worker.io, one(worker, pair.stream, ran_on));
  worker.run();
  CHECK(ran_on == std::vector(3, loop));
}

TEST_CASE("steps that others wait for run on the thread, in their order") {
  Worker worker;
  StreamPair pair(worker.io);
  for (const char* const name : {"a", "b", "c"})
    spawn(worker.io, shake(worker, pair.stream, name, 2));
  worker.run();
  CHECK(worker.log.text() == " a a b b c c");
  CHECK(worker.counters.completed.value() == 3);
  CHECK(worker.counters.waiting.value() == 0);
  CHECK(worker.counters.in_progress.value() == 0);
}

TEST_CASE("while a step runs on the thread everything else that is ready runs") {
  Worker worker;
  StreamPair pair(worker.io), other(worker.io);
  Held held(worker);
  held.begin(pair.stream);
  asio::post(worker.io, [&] { work(worker, 4); });
  spawn(worker.io, shake(worker, other.stream, "a", 2));
  run(worker.io);
  CHECK(worker.log.text() == " . . . .");  // and no other step
  CHECK(worker.counters.waiting.value() == 1);
  held.end();
  CHECK(worker.log.text() == " . . . . held stepped a a");
  CHECK(worker.counters.completed.value() == 1);
  CHECK(worker.counters.in_progress.value() == 1);
  pair.stream.close();
  worker.run();
}

TEST_CASE("between two steps on the loop everything else that is ready runs") {
  Worker worker;
  StreamPair pair(worker.io);
  spawn(worker.io, shake(worker, pair.stream, "a", 3));
  asio::post(worker.io, [&] { work(worker, 4); });
  asio::post(worker.io, [&] { work(worker, 4); });
  run(worker.io);
  CHECK(worker.log.text() == " . . a . . a . . a . .");
}

TEST_CASE("a step whose time is over ends, and its handshake with it") {
  Worker worker;
  StreamPair pair(worker.io);
  Held held(worker);
  held.begin(pair.stream);
  const int descriptor = pair.stream.socket().native();
  for (int ticks = 0; ticks < 3; ++ticks) {
    held.handshake->end(Handshake::Outcome::timed_out);
    held.handshake->give_up();
    pair.stream.cancel();
    run(worker.io);
  }
  CHECK(worker.log.text().empty());
  CHECK(is_descriptor(descriptor));
  held.end();
  CHECK(worker.log.text() == " held !held");
  CHECK(held.handshake == nullptr);
  CHECK(worker.counters.timed_out.value() == 1);
  CHECK(worker.counters.failed.value() == 0);
  CHECK(worker.counters.in_progress.value() == 0);
}

TEST_CASE("a stream that is closed during a step keeps its descriptor to the end of the step") {
  Worker worker;
  StreamPair pair(worker.io);
  Held held(worker);
  held.begin(pair.stream);
  const int descriptor = pair.stream.socket().native();
  const bool resets = GENERATE(false, true);
  held.handshake->give_up();
  if (resets) pair.stream.reset();
  pair.stream.close();
  run(worker.io);
  CHECK(is_descriptor(descriptor));
  CHECK_FALSE(pair.far.has_ended());
  held.end();
  CHECK_FALSE(is_descriptor(descriptor));
  CHECK(pair.far.has_ended());
  CHECK(worker.log.text() == " held !held");
  CHECK(worker.counters.failed.value() == 1);
}

TEST_CASE("a handshake is displaced after its step, by the one that waits for it") {
  Worker worker(1);
  StreamPair first(worker.io), second(worker.io);
  Held held(worker);
  held.begin(first.stream);
  spawn(worker.io, stall(worker, second.stream, "b"));
  run(worker.io);
  CHECK(first.stream.is_open());
  CHECK(worker.counters.in_progress.value() == 1);
  held.end();
  CHECK(worker.log.text() == " held stepped displaced b");
  CHECK(first.far.has_ended());
  CHECK(worker.counters.displaced.value() == 1);
  CHECK(worker.counters.in_progress.value() == 1);
  second.stream.close();
  worker.run();
}

TEST_CASE("a worker that ends waits for the step that runs") {
  auto alive = std::make_shared<int>(0);
  std::binary_semaphore has_begun{0};
  {
    asio::io_context io;
    HandshakeCounters counters;
    StreamPair pair(io);
    Handshakes handshakes(io, 100, counters, [] {});
    const auto shake = [](Handshakes& all, Stream& stream, std::binary_semaphore& begun,
                          std::shared_ptr<int> count) -> Task<> {
      Handshake handshake(all, stream, true);
      const auto work = [&] {
        begun.release();
        for (int i = 0; i < 100; ++i)
          std::this_thread::yield();
        ++*count;
      };
      co_await handshake.step(work);
      *count += 100;  // never
    };
    for (int i = 0; i < 3; ++i)
      spawn(io, shake(handshakes, pair.stream, has_begun, alive));
    for (int i = 0; i < 4; ++i)
      io.poll_one();
    has_begun.acquire();
    CHECK(counters.waiting.value() == 2);
    pair.stream.close();
    CHECK(pair.stream.is_open());
  }
  CHECK(*alive == 1);
  CHECK(alive.use_count() == 1);
}

TEST_CASE("what a step throws reaches its task") {
  Worker worker;
  StreamPair pair(worker.io);
  const bool costs_much = GENERATE(false, true);
  const auto fail = [](Worker& of, Stream& stream, bool much) -> Task<> {
    Handshake handshake(of.handshakes, stream, much);
    const auto work = [] { throw std::bad_alloc(); };
    ++of.busy;
    try {
      co_await handshake.step(work);
    } catch (const std::bad_alloc&) {
      of.log += " caught";
    }
    --of.busy;
  };
  spawn(worker.io, fail(worker, pair.stream, costs_much));
  worker.run();
  CHECK(worker.log.text() == " caught");
  CHECK(worker.counters.failed.value() == 1);
}

TEST_CASE("a client whose bytes have arrived is served between two steps") {
  Worker worker;
  StreamPair pair(worker.io), client(worker.io);
  const auto serve = [](Worker& of, StreamPair& from) -> Task<> {
    std::array<char, 10> piece{};
    error_code ec;
    while (co_await from.stream.read(asio::buffer(piece), ec) > 0)
      of.log += " served";
  };
  spawn(worker.io, serve(worker, client));
  run(worker.io);
  spawn(worker.io, shake(worker, pair.stream, "a", 4));
  client.far.send("x");
  run(worker.io);
  CHECK((worker.log.text() == " a served a a a" || worker.log.text() == " served a a a a"));

  Held held(worker);
  held.begin(pair.stream);
  client.far.send("x");
  run(worker.io);
  CHECK(worker.log.text().ends_with(" a served"));
  held.end();
  CHECK(worker.log.text().ends_with(" served held stepped"));
  client.far.close();
  pair.stream.close();
  worker.run();
}

TEST_CASE("one more than may be in progress closes the oldest, and is counted") {
  Worker worker(2);
  std::vector<std::unique_ptr<StreamPair>> pairs;
  for (const char* const name : {"a", "b", "c"}) {
    pairs.push_back(std::make_unique<StreamPair>(worker.io));
    spawn(worker.io, stall(worker, pairs.back()->stream, name));
    run(worker.io);
  }
  CHECK(worker.log.text() == " a b displaced c -a");
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
  worker.run();
  CHECK(worker.log.text() == " a a displaced b !a");
  CHECK_FALSE(first.stream.is_open());
  CHECK(worker.counters.displaced.value() == 1);
  second.stream.close();
  worker.run();
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
    CHECK(worker.log.text().empty());  // not within the call
  });
  run(worker.io);
  CHECK(worker.log.text().find(" !late") < worker.log.text().rfind(" a"));
  CHECK(worker.counters.timed_out.value() == 1);

  spawn(worker.io, [](Worker& of, Stream& stream) -> Task<> {
    Handshake handshake(of.handshakes, stream, false);
    handshake.give_up();
    const auto work = [&] { of.log += " stepped"; };
    CHECK_FALSE(co_await handshake.step(work));
    of.log += " never";
  }(worker, pair.stream));
  run(worker.io);
  CHECK(worker.log.text().ends_with(" a never"));
}

TEST_CASE("those that wait for their turn end with the worker") {
  auto ended = std::make_shared<int>(0);
  {
    asio::io_context io;
    HandshakeCounters counters;
    StreamPair pair(io);
    Handshakes handshakes(io, 100, counters, [] {});
    const auto wait = [](Handshakes& all, Stream& stream, std::shared_ptr<int> alive) -> Task<> {
      Handshake handshake(all, stream, false);
      const auto work = [&] { ++*alive; };
      co_await handshake.step(work);
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
}  // namespace weir::loop
