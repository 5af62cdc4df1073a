#include "loop/step_thread.hpp"

#include <algorithm>
#include <semaphore>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "catch.hpp"

namespace weir::loop {
namespace {

TEST_CASE("a step runs beside the loop, and its end is reported on the loop") {
  asio::io_context io;
  const auto loop = std::this_thread::get_id();
  std::vector<std::thread::id> ran_on, ended_on;
  StepThread thread(io, [&] { ended_on.push_back(std::this_thread::get_id()); });
  for (int i = 0; i < 3; ++i) {
    REQUIRE(thread.run([&] { ran_on.push_back(std::this_thread::get_id()); }));
    io.restart();
    io.run();  // has work until then
    CHECK(ended_on.size() == ran_on.size());
  }
  REQUIRE(ran_on.size() == 3);
  CHECK(ran_on == std::vector(3, ran_on.front()));
  CHECK(ran_on.front() != loop);
  CHECK(ended_on == std::vector(3, loop));
}

TEST_CASE("steps have a lower priority than the loop") {
  asio::io_context io;
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  int theirs = ours;
  StepThread thread(io, [] {});
  REQUIRE(thread.run([&] { theirs = ::getpriority(PRIO_PROCESS, 0); }));
  io.run();
  CHECK(theirs == std::min(ours + 10, 19));
  CHECK(::getpriority(PRIO_PROCESS, 0) == ours);
}

TEST_CASE("stopping waits for the running step, whose end is not reported") {
  asio::io_context io;
  bool has_run = false, is_reported = false;
  std::binary_semaphore has_begun{0};
  StepThread thread(io, [&] { is_reported = true; });
  thread.stop();  // nothing runs yet
  REQUIRE(thread.run([&] {
    has_begun.release();
    for (int i = 0; i < 100; ++i)
      std::this_thread::yield();
    has_run = true;
  }));
  has_begun.acquire();
  thread.stop();
  CHECK(has_run);
  io.run();
  CHECK_FALSE(is_reported);
  thread.stop();
}

}  // namespace
}  // namespace weir::loop
