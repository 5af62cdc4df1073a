#include "loop/calls.hpp"

#include <optional>
#include <string>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "catch.hpp"

namespace weir::loop {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a posted function is called after the present one") {
  boost::asio::io_context io;
  std::string order;
  post(io, [&] {
    post(io, [&] { order += 'b'; });
    order += 'a';
  });
  io.run();
  CHECK(order == "ab");
}

TEST_CASE("an alarm calls the function that was set last, once") {
  boost::asio::io_context io;
  Alarm alarm(io);
  std::string calls;
  alarm.set(0s, [&] { calls += 'a'; });
  alarm.set(0s, [&] { calls += 'b'; });
  io.run();
  CHECK(calls == "b");
}

TEST_CASE("a function may set its alarm again") {
  boost::asio::io_context io;
  Alarm alarm(io);
  std::string calls;
  alarm.set(0s, [&] { alarm.set(0s, [&] { calls += 'a'; }); });
  io.run();
  CHECK(calls == "a");
}

TEST_CASE("an alarm whose time has come is cancelled all the same, also by its end") {
  boost::asio::io_context io;
  std::optional<Alarm> cancelled(io), ended(io), first(io);
  std::string calls;
  first->set(0s, [&] {
    cancelled->cancel();
    ended.reset();
  });
  cancelled->set(0s, [&] { calls += 'a'; });
  ended->set(0s, [&] { calls += 'b'; });
  io.run();
  CHECK(calls.empty());
}

TEST_CASE("a watch calls its function each time there is something to read") {
  boost::asio::io_context io;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Descriptor writer(ends[1]);
  std::string read;
  std::optional<ReadWatch> watch;
  watch.emplace(io, Descriptor(ends[0]), [&, reader = ends[0]] {
    char byte = 0;
    REQUIRE(::read(reader, &byte, 1) == 1);
    read += byte;
    if (read == "ab") return watch.reset();  // ends the loop
    REQUIRE(::write(writer.native(), "b", 1) == 1);
  });
  REQUIRE(::write(writer.native(), "a", 1) == 1);
  io.run();
  CHECK(read == "ab");
}

}  // namespace
}  // namespace weir::loop
