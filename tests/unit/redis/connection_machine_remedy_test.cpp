// The kind of a failed connection, and what its error advises, with an injected clock.
#include <functional>

#include "catch.hpp"
#include "machine_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using Catch::Matchers::EndsWith;

TEST_CASE("with sentinels each attempt finds the server again, and errors name it") {
  options::Redis options;
  options.topology = options::RedisTopology::sentinel;
  options.host = "127.0.0.1";  // not used
  MachineFixture fixture(options);
  fixture.start();
  CHECK(fixture.deadline().resolve);
  fixture.resolve_fails("no sentinel is reachable (a:1: refused)");
  CHECK(fixture.machine.last_error() ==
        "the master \"mymaster\": no sentinel is reachable (a:1: refused)");
  CHECK(fixture.deadline().resolve);
  CHECK(fixture.resolve(1, "10.0.0.2:6379").connect == 0U);
  fixture.open_fails("Connection refused");
  CHECK(fixture.machine.last_error() ==
        "10.0.0.2:6379: Connection refused; check that Redis is running at this address");
  CHECK(fixture.deadline().resolve);
  fixture.resolve_fails("no sentinel is reachable ()");
  CHECK(fixture.machine.last_error().starts_with("the master"));
}

TEST_CASE("a handshake that fails although the server accepts connections has a remedy") {
  struct Row {
    std::string what;
    bool is_secure;
    std::function<Actions(MachineFixture&)> end;
    store::Error failure;
    std::string error;
  };
  const std::string closed =
      "Server closed the connection; the connection was accepted and then closed: Redis may be "
      "stopping; if this lasts, check that the server is Redis, and ";
  const std::string silent =
      "not ready within 500 ms; the server accepts connections: check that it is Redis, is not "
      "blocked, and ";
  const std::string strange =
      "; the server of store.redis.url is not Redis, or a proxy changes its replies";
  using Cause = ConnectionMachine::Cause;
  const auto ended = [](std::string why, Cause cause) {
    return [=](auto& it) { return it.closed(why, cause); };
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"closed", false, ended("Server closed the connection", Cause::connection),
       store::Error::not_connected, closed + "does not require TLS"},
      {"closed, with TLS", true, ended("Server closed the connection", Cause::connection),
       store::Error::not_connected, closed + "uses TLS"},
      {"silent", false, [](auto& it) { return it.deadline(); }, store::Error::not_connected,
       silent + "does not require TLS"},
      {"not RESP", false, ended("Protocol error, got \"H\"", Cause::reply), store::Error::other,
       "Protocol error, got \"H\"" + strange},
      {"an error of TLS", true, ended("TLS: certificate verify failed", Cause::tls),
       store::Error::not_connected, "TLS: certificate verify failed"},
      {"an error reply before the end", false,
       [](auto& it) {
         it.reply(error("ERR max number of clients reached"));
         return it.closed("Server closed the connection");
       },
       store::Error::not_connected, "CLIENT SETNAME: ERR max number of clients reached"},
  }));
  CAPTURE(row.what);
  auto options = MachineFixture::full_options();
  options.password = {};
  options.secure = row.is_secure;
  MachineFixture fixture(options);
  fixture.succeed(State::resolving);
  fixture.resolve(1);
  fixture.succeed(State::introducing);
  SECTION("accepted") {
    fixture.machine.on_accepted();
    row.end(fixture);
    CHECK(fixture.machine.last_error() == "redis.example:6379: " + row.error);
    CHECK(fixture.machine.last_failure() == row.failure);
    // The next connection may be refused.
    fixture.succeed(State::introducing);
  }
  fixture.closed("first address refuses");
  fixture.closed("Connection refused");
  CHECK_THAT(fixture.machine.last_error(),
             EndsWith("Connection refused; check that Redis is running at this address") ||
                 EndsWith("first address refuses"));
}

TEST_CASE("a failure of a ready connection has a kind, and no remedy for handshakes") {
  MachineFixture fixture;
  fixture.succeed(State::introducing);
  fixture.machine.on_accepted();
  fixture.succeed();
  CHECK(fixture.machine.last_failure() == store::Error::none);
  fixture.closed("Protocol error, got \"H\"", ConnectionMachine::Cause::reply);
  CHECK(fixture.machine.last_failure() == store::Error::other);
  CHECK(fixture.machine.last_error() == "redis.example:6379: Protocol error, got \"H\"");
  fixture.succeed();
  fixture.closed("reset by peer");
  CHECK(fixture.machine.last_failure() == store::Error::not_connected);
  CHECK(fixture.machine.last_error() == "redis.example:6379: reset by peer");
}
