// The order in which a pass of the loop serves Redis and the streams of clients. The test is the
// server.
#include "redis/hiredis_adapter.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <hiredis/async.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/un.h>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "loop/poller.hpp"
#include "loop/socket.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::redis {
namespace {

using loop::Priority;
using loop::Task;
using loop::test::FarEnd;
using loop::test::StreamPair;

/// A unix socket at a temporary path. Bytes that are sent to it have arrived when send(2) returns.
class Listener {
 public:
  Listener() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(descriptor_, 1) == 0);
  }
  ~Listener() {
    ::close(descriptor_);
    std::filesystem::remove_all(directory_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string path() const { return (directory_ / "redis").string(); }
  int accept() const { return ::accept(descriptor_, nullptr, nullptr); }

 private:
  int descriptor_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::filesystem::path directory_;
};

/// A connection to the test, beside streams of clients. Logs `n` when a stream has read, and `R`
/// for the reply of Redis.
class AdapterFixture final : public HiredisAdapter::Owner {
 public:
  AdapterFixture() : context(redisAsyncConnectUnix(listener.path().c_str())) {
    REQUIRE(context->err == 0);
    context->data = this;
    adapter = std::make_unique<HiredisAdapter>(io, *context, false, *this);
    server.emplace(listener.accept());
    ask();
    run();
    REQUIRE_FALSE(server->receive().empty());
    server->send("+OK\r\n");
    run();
    REQUIRE(std::exchange(log, "") == "R");
  }
  ~AdapterFixture() { redisAsyncFree(context); }
  AdapterFixture(const AdapterFixture&) = delete;
  AdapterFixture& operator=(const AdapterFixture&) = delete;

  void ask() {
    redisAsyncCommand(
        context,
        [](redisAsyncContext* its_context, void* reply, void*) {
          if (reply != nullptr) static_cast<AdapterFixture*>(its_context->data)->log += 'R';
        },
        nullptr, "PING");
  }
  void add_streams(std::size_t count, Priority priority) {
    for (std::size_t i = 0; i < count; ++i) {
      StreamPair& pair = *pairs.emplace_back(std::make_unique<StreamPair>(io));
      pair.stream.socket().set_priority(priority);
      loop::spawn(io, note(pair.stream));
    }
    run();
  }
  void send_to_streams() {
    for (const auto& pair : pairs)
      pair->far.send("x");
  }
  void run() { loop::test::run(io); }

  Listener listener;
  asio::io_context io;
  std::string log;
  std::function<void()> when_read;
  std::vector<std::unique_ptr<StreamPair>> pairs;
  redisAsyncContext* const context;
  std::unique_ptr<HiredisAdapter> adapter;
  std::optional<FarEnd> server;

 private:
  Task<> note(loop::Stream& stream) {
    std::array<char, 4> room{};
    error_code ec;
    co_await stream.read(asio::buffer(room), ec);
    log += ec ? '-' : 'n';
    if (when_read) when_read();
  }
  void on_context_end(std::string_view) noexcept override { adapter.reset(); }
  void on_stray_bytes() noexcept override { log += '!'; }
};

constexpr std::size_t some = loop::Poller::interleave_after;

}  // namespace

TEST_CASE("a reply that has arrived is read before the streams that are ready") {
  AdapterFixture fixture;
  fixture.add_streams(2 * some + 2, GENERATE(Priority::high, Priority::normal));
  fixture.ask();
  fixture.run();
  fixture.send_to_streams();
  fixture.server->send("+OK\r\n");
  fixture.run();
  CHECK(fixture.log == "R" + std::string(2 * some + 2, 'n'));
}

TEST_CASE("a reply that arrives while many streams are ready waits for a few dozen of them only") {
  AdapterFixture fixture;
  fixture.add_streams(2 * some + 2, GENERATE(Priority::high, Priority::normal));
  fixture.ask();
  fixture.run();
  fixture.when_read = [&] {
    if (fixture.log == "n") fixture.server->send("+OK\r\n");
  };
  fixture.send_to_streams();
  fixture.run();
  CHECK(fixture.log == std::string(some, 'n') + "R" + std::string(some + 2, 'n'));
}

TEST_CASE("a command that a stream sends is written before all streams that are ready are read") {
  AdapterFixture fixture;
  fixture.add_streams(2 * some + 2, GENERATE(Priority::high, Priority::normal));
  std::string before;
  fixture.when_read = [&] {
    if (fixture.log == "n") fixture.ask();
    if (fixture.log.size() == some) before = fixture.server->receive();
    if (fixture.log.size() == some + 1)
      CHECK_THAT(fixture.server->receive(), Catch::Matchers::Contains("PING"));
  };
  fixture.send_to_streams();
  fixture.run();
  CHECK(fixture.log == std::string(2 * some + 2, 'n'));
  CHECK(before.empty());  // together with those that others send meanwhile
}

}  // namespace weir::redis
