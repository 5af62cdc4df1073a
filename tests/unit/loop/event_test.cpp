#include "loop/event.hpp"

#include <optional>
#include <string>

#include "catch.hpp"

namespace weir::loop {
namespace {

Task<> note(Event& event, std::string& log) {
  log += '(';
  const error_code ec = co_await event.wait();
  log += ec == asio::error::operation_aborted ? 'c' : 'n';
  log += ')';
}

TEST_CASE("a task continues in a later step of the loop") {
  asio::io_context io;
  Event event(io);
  std::string log;
  spawn(io, note(event, log));
  io.poll();
  CHECK(log == "(");
  SECTION("notified") {
    event.notify();
    event.notify();  // once is enough
    CHECK(log == "(");
    io.restart();
    io.poll();
    CHECK(log == "(n)");
  }
  SECTION("cancelled") {
    event.cancel();
    CHECK(log == "(");
    io.restart();
    io.poll();
    CHECK(log == "(c)");
  }
  SECTION("cancelled after it was notified") {
    event.notify();
    event.cancel();
    io.restart();
    io.poll();
    CHECK(log == "(c)");
  }
}

TEST_CASE("what happened before a wait does not end it") {
  asio::io_context io;
  Event event(io);
  std::string log;
  event.notify();
  event.cancel();
  spawn(io, note(event, log));
  io.poll();
  CHECK(log == "(");
  event.notify();
  io.restart();
  io.poll();
  CHECK(log == "(n)");
}

TEST_CASE("a task that waits ends with its event, or with the loop if it was notified") {
  struct Ended {
    std::string& log;
    ~Ended() { log += 'e'; }
  };
  const auto hold = [](Event& event, std::string& log) -> Task<> {
    const Ended ended{log};
    co_await event.wait();
    log += 'x';
  };
  std::string log;
  std::optional<asio::io_context> io(std::in_place);
  std::optional<Event> event(std::in_place, *io);
  spawn(*io, hold(*event, log));
  io->poll();
  SECTION("not notified") {
    event.reset();
    CHECK(log == "e");
    io.reset();
  }
  SECTION("notified") {
    event->notify();
    event.reset();
    CHECK(log.empty());
    io.reset();
    CHECK(log == "e");
  }
}

}  // namespace
}  // namespace weir::loop
