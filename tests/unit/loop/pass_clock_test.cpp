#include "loop/pass_clock.hpp"

#include <array>
#include <vector>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::StreamPair;

/// Runs until the clock shows a later time.
void let_time_pass(const MonotonicClock& clock) {
  const Instant begin = clock.now();
  while (clock.now() == begin) {
  }
}

class Readers {
 public:
  Readers() {
    for (StreamPair& pair : pairs)
      spawn(io, read_and_note(pair.stream));
    test::run(io);
  }
  Task<> read_and_note(Stream& stream) {
    std::array<char, 4> room{};
    error_code ec;
    while (!ec) {
      co_await stream.read(asio::buffer(room), ec);
      if (is_measuring) readings.push_back(pass_clock.read());
      readings.push_back(pass_clock.now());
      let_time_pass(clock);
    }
  }
  void send() {
    for (StreamPair& pair : pairs)
      pair.far.send("x");
    test::run(io);
  }

  asio::io_context io;
  MonotonicClock clock;
  PassClock pass_clock{io, clock};
  bool is_measuring = false;
  std::vector<Instant> readings;
  std::array<StreamPair, 2> pairs{StreamPair(io), StreamPair(io)};
};

/// Four readings: two that are equal, and two later ones that are equal.
void check_two_pairs(const std::vector<Instant>& readings) {
  REQUIRE(readings.size() == 4);
  CHECK(readings[0] == readings[1]);
  CHECK(readings[1] < readings[2]);
  CHECK(readings[2] == readings[3]);
}

TEST_CASE("the tasks of a pass have one reading, and those of the next a later one") {
  Readers readers;
  readers.send();
  readers.send();
  check_two_pairs(readers.readings);
}

TEST_CASE("a measurement reads the clock, and the pass continues with its reading") {
  Readers readers;
  readers.is_measuring = true;
  readers.send();
  check_two_pairs(readers.readings);
}

TEST_CASE("outside of a pass each reading is new") {
  Readers readers;
  readers.send();
  const Instant first = readers.pass_clock.now();
  CHECK(first > readers.readings.back());
  let_time_pass(readers.clock);
  const Instant second = readers.pass_clock.now();
  CHECK(second > first);
  CHECK(readers.pass_clock.read() >= second);
}

TEST_CASE("a task that is resumed later has the reading of another pass") {
  Readers readers;
  for (StreamPair& pair : readers.pairs)
    pair.far.send("abcdefgh");  // the second half is read at once, by a task that is resumed later
  test::run(readers.io);
  check_two_pairs(readers.readings);
}

}  // namespace
}  // namespace weir::loop
