#include "base/deadline_wheel.hpp"

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

using weir::Deadline;
using weir::DeadlineWheel;

namespace {

struct Connection : Deadline {
  int fired = 0;
};

void advance_by(DeadlineWheel& wheel, std::uint64_t ticks) {
  wheel.advance(wheel.now() + ticks,
                [](Deadline& deadline) { ++static_cast<Connection&>(deadline).fired; });
}

}  // namespace

TEST_CASE("a deadline fires once, after its full ticks and at most one more") {
  for (std::uint64_t ticks : {1u, 2u, 10u, 1000u, 1023u, 1024u, 1025u, 5000u}) {
    CAPTURE(ticks);
    DeadlineWheel wheel;
    Connection connection;
    wheel.arm(connection, ticks);
    advance_by(wheel, ticks);
    CHECK(connection.fired == 0);
    advance_by(wheel, 1);
    CHECK(connection.fired == 1);
    advance_by(wheel, 3000);
    CHECK(connection.fired == 1);
  }
}

TEST_CASE("the last arm counts, later or earlier") {
  DeadlineWheel wheel;
  Connection connection;
  wheel.arm(connection, 5);
  advance_by(wheel, 3);
  wheel.arm(connection, 5);
  advance_by(wheel, 5);
  CHECK(connection.fired == 0);
  wheel.arm(connection, 500);
  wheel.arm(connection, 2);
  advance_by(wheel, 3);
  CHECK(connection.fired == 1);
}

TEST_CASE("a disarmed or destroyed deadline never fires") {
  DeadlineWheel wheel;
  Connection stays;
  auto leaves = std::make_unique<Connection>();
  wheel.arm(stays, 3);
  wheel.arm(*leaves, 3);
  wheel.disarm(stays);
  leaves.reset();
  advance_by(wheel, 2000);
  CHECK(stays.fired == 0);
}

TEST_CASE("firing may destroy and arm other deadlines of the same tick") {
  DeadlineWheel wheel;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < 4; ++i) {
    connections.push_back(std::make_unique<Connection>());
    wheel.arm(*connections.back(), 2);
  }
  int fired = 0;
  wheel.advance(3, [&](Deadline& deadline) {
    ++fired;
    connections[1].reset();
    wheel.arm(*connections[2], 10);
    if (&deadline == connections[0].get()) wheel.arm(deadline, 1);
  });
  CHECK(fired == 2);  // the first and the last: the second is gone, the third is later
  wheel.advance(14, [&](Deadline&) { ++fired; });
  CHECK(fired == 4);
}

TEST_CASE("random arming agrees with a plain list of due ticks") {
  const TestSeed seed;
  std::mt19937 random(seed);
  DeadlineWheel wheel;
  std::vector<Connection> connections(200);
  std::map<const Connection*, std::uint64_t> due;
  for (int step = 0; step < 20'000; ++step) {
    Connection& connection = connections[random() % connections.size()];
    const std::uint64_t ticks = random() % 3 == 0 ? random() % 3000 : random() % 30;
    wheel.arm(connection, ticks);
    due[&connection] = wheel.now() + ticks + 1;
    wheel.advance(wheel.now() + random() % 4, [&](Deadline& fired) {
      const auto found = due.find(static_cast<const Connection*>(&fired));
      REQUIRE(found != due.end());
      REQUIRE(found->second == wheel.now());
      due.erase(found);
    });
    if (step % 100 == 0) {
      for (const auto& [waiting, at] : due)
        REQUIRE(at > wheel.now());
    }
  }
}
