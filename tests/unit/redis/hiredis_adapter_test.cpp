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

/// A connection to the test, beside streams of clients. Logs `n` when a stream has read, `R` for
/// the reply of Redis, and `L` if the connection ended before it.
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
  ~AdapterFixture() {
    if (adapter != nullptr) redisAsyncFree(context);
  }
  AdapterFixture(const AdapterFixture&) = delete;
  AdapterFixture& operator=(const AdapterFixture&) = delete;

  void ask() {
    redisAsyncCommand(
        context,
        [](redisAsyncContext* its_context, void* reply, void*) {
          auto& its_fixture = *static_cast<AdapterFixture*>(its_context->data);
          its_fixture.log += reply != nullptr ? 'R' : 'L';
          if (reply == nullptr) its_fixture.loss = its_fixture.adapter->reply_error();
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
  std::optional<std::string> loss;  ///< the reply_error() in the callback of a lost command
  std::string end;                  ///< why the context has ended
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
  void on_context_end(std::string_view why) noexcept override {
    end = why;
    adapter.reset();
  }
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

TEST_CASE("a reply that is larger than its bounds ends the connection, with that as the reason") {
  AdapterFixture fixture;
  fixture.ask();
  fixture.run();
  const auto [begin, piece] = GENERATE(table<std::string, std::string>({
      {"+", std::string(8'192, 'x')},
      {"$2000000000\r\n", std::string(8'192, 'x')},
      {"*10000\r\n", "$8000\r\n" + std::string(8'000, 'x') + "\r\n"},
      {"*" + std::to_string(most_elements + 1) + "\r\n", ":1\r\n"},
  }));
  fixture.server->send(begin);
  fixture.run();
  for (std::size_t sent = 0; fixture.adapter != nullptr && sent < 4 * most_reply_bytes;
       sent += piece.size()) {
    fixture.server->send(piece);
    fixture.run();
  }
  CHECK(fixture.log == "L");
  CHECK(fixture.loss == std::string(oversized_reply));
  CHECK(fixture.end == oversized_reply);
}

TEST_CASE("a lack of memory is not an error of the reply") {
  AdapterFixture fixture;
  redisReplyObjectFunctions functions = *fixture.context->c.reader->fn;
  functions.createString = [](const redisReadTask*, char*, std::size_t) -> void* {
    return nullptr;
  };
  fixture.context->c.reader->fn = &functions;
  fixture.ask();
  fixture.run();
  fixture.server->send("+OK\r\n");
  fixture.run();
  CHECK(fixture.log == "L");
  CHECK(fixture.loss == "");
  CHECK(fixture.end == "Out of memory");
}

TEST_CASE("a reply that cannot be parsed is its own reason") {
  AdapterFixture fixture;
  fixture.ask();
  fixture.run();
  fixture.server->send("HTTP/1.1 400 Bad Request\r\n\r\n");
  fixture.run();
  CHECK_THAT(fixture.loss.value_or(""), Catch::Matchers::StartsWith("Protocol error, got \"H\""));
  CHECK(fixture.end == fixture.loss);
}

}  // namespace weir::redis
