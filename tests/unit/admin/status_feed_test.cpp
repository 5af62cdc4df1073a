#include "admin/status_feed.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/beast/core/error.hpp>

#include "catch.hpp"
#include "test_process.hpp"
#include "unit/http/allocations.hpp"

namespace weir::admin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using LocalSocket = asio::local::stream_protocol::socket;

/// A page at the other end of a socket pair, whose send buffer has room for less than one event.
struct OpenPage {
  OpenPage(asio::io_context& io, StatusFeed& feed) : reader(io), writer(io), stream(io) {
    asio::local::connect_pair(reader, writer);
    writer.set_option(asio::socket_base::send_buffer_size(1));
    stream.socket() = asio::generic::stream_protocol::socket(std::move(writer));
    asio::co_spawn(io, feed.serve(stream, false, [this] { return may_continue; }),
                   [this](const std::exception_ptr& thrown) {
                     is_closed = true;
                     try {
                       if (thrown) std::rethrow_exception(thrown);
                     } catch (const boost::system::system_error& failure) {
                       error = failure.code();
                     }
                   });
  }

  /// The head before the first event is left out.
  std::string read() {
    if (!std::exchange(has_head, true)) read_part("\r\n\r\n");
    return read_part("\n\n");
  }
  std::string read_part(const char* end) {
    std::string event;
    asio::async_read_until(reader, asio::dynamic_buffer(received), end,
                           [&](const auto& failure, std::size_t size) {
                             REQUIRE(!failure);
                             event = received.substr(0, size);
                             received.erase(0, size);
                           });
    auto& io = static_cast<asio::io_context&>(reader.get_executor().context());
    while (event.empty())
      io.run_one();
    return event;
  }

  LocalSocket reader, writer;
  StatusFeed::Stream stream;
  std::string received;
  bool has_head = false;
  bool may_continue = true;
  bool is_closed = false;
  boost::system::error_code error;
};

/// The status of a process with enough routes for a large event.
struct World {
  explicit World(const FeedTimes& times)
      : feed(
            io,
            [this] {
              if (std::exchange(fails, false)) throw std::runtime_error("a failure of the test");
              return process.shown();
            },
            [](const auto& done) {
              done({.window = 1s, .keys = {{.identity = "api_key", .hash = "a1b2", .denied = 7}}});
            },
            times) {}

  static std::vector<options::Route> many_routes() {
    std::vector<options::Route> routes;
    for (int i = 0; i < 90; ++i)
      routes.push_back(named_route("route-" + std::to_string(i)));
    return routes;
  }

  TestProcess process{many_routes()};
  bool fails = false;  ///< the next time
  StatusFeed feed;     // outlives the loop, whose pages leave it
  asio::io_context io;
};

TEST_CASE("a page gets an event at once, and then one in each interval") {
  World world({.event_interval = 10ms});
  OpenPage page(world.io, world.feed);
  const std::string first = page.read();
  CHECK(first.starts_with("data: {\"at\":"));
  CHECK(first.find('\n') == first.size() - 2);
  CHECK(first.find(R"("hash":"a1b2")") != std::string::npos);
  CHECK(page.read() != first);
  page.may_continue = false;
  while (!page.is_closed)
    world.io.run_one();
  CHECK(!page.error);
  world.io.run();  // ends: nothing is made without a page
}

TEST_CASE("pages get the same events") {
  World world({.event_interval = 10ms});
  OpenPage one(world.io, world.feed);
  const std::string first = one.read();
  OpenPage other(world.io, world.feed);
  CHECK(other.read() == first);
  CHECK(other.read() == one.read());
}

TEST_CASE("a slow page skips events, and none is queued for it") {
  World world({.event_interval = 10ms});
  OpenPage slow(world.io, world.feed);
  OpenPage other(world.io, world.feed);
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i)
    events.push_back(other.read());
  // It has not read: it gets the event that was being sent, then the latest one.
  CHECK(slow.read() == events[0]);
  const std::string next = slow.read();
  CHECK(next >= events[9]);  // they begin with their time
}

TEST_CASE("a page that does not take an event in time is closed") {
  World world({.event_interval = 10ms, .slowest_page = 50ms});
  OpenPage page(world.io, world.feed);
  while (!page.is_closed)
    world.io.run_one();
  CHECK(page.error == boost::beast::error::timeout);
  world.io.run();
}

TEST_CASE("a number of pages may be open") {
  World world({});
  std::vector<std::unique_ptr<OpenPage>> pages;
  while (pages.size() < most_pages) {
    CHECK_FALSE(world.feed.is_full());
    pages.push_back(std::make_unique<OpenPage>(world.io, world.feed));
    pages.back()->read();
  }
  CHECK(world.feed.is_full());
  pages.front()->stream.close();
  while (!pages.front()->is_closed)
    world.io.run_one();
  CHECK_FALSE(world.feed.is_full());
}

TEST_CASE("a page without memory for the events leaves them to the next one") {
  // Lets one allocation fail, then the next one, until the step needs no more.
  bool has_failed = true;
  for (std::size_t number = 1; has_failed; ++number) {
    CAPTURE(number);
    World world({.event_interval = 1ms});
    OpenPage first(world.io, world.feed);
    while (first.reader.available() == 0)
      world.io.run_one();
    // The head has been sent, so the next step begins the events.
    try {
      has_failed = is_failed_allocation(number, [&] { world.io.run_one(); });
    } catch (const std::bad_alloc&) {
      has_failed = true;
    }
    REQUIRE((has_failed || number > 1));
    OpenPage second(world.io, world.feed);
    CHECK(second.read().starts_with("data: {\"at\":"));
  }
}

TEST_CASE("events that end with an error begin again with the next page") {
  World world({.event_interval = 10ms});
  world.fails = true;
  OpenPage first(world.io, world.feed);
  while (world.fails)
    world.io.run_one();
  OpenPage second(world.io, world.feed);
  CHECK(second.read().starts_with("data: {\"at\":"));
}

}  // namespace
}  // namespace weir::admin
