// The actions of the connection for each event in each state, with an injected clock.
#include "redis/connection_machine.hpp"

#include <functional>

#include "catch.hpp"
#include "machine_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// A machine in this state, at 200 ms. It was started at 0; the lookup took 100 ms and found two
/// addresses, the first of which has until 300 ms; the attempt ends at 500 ms. For State::waiting
/// the lookup failed at 150 ms instead.
void bring_to(MachineFixture& fixture, State state) {
  if (state == State::stopped) return fixture.pass_to(200ms);
  fixture.succeed(State::resolving);
  if (state == State::waiting) {
    fixture.pass_to(150ms);
    fixture.resolve_fails("no such host");
  } else if (state != State::resolving) {
    fixture.pass_to(100ms);
    fixture.succeed(state);
  }
  fixture.pass_to(200ms);
  REQUIRE(fixture.machine.state() == state);
}

struct Event {
  std::string name;
  std::function<Actions(MachineFixture&)> happen;
};

const std::vector<Event> events{
    {"start", [](auto& it) { return it.start(); }},
    {"stop", [](auto& it) { return it.stop(); }},
    {"give up", [](auto& it) { return it.give_up("no answer"); }},
    {"deadline", [](auto& it) { return it.deadline(); }},
    {"too early",
     [](auto& it) {
       if (it.wake_at) it.now = *it.wake_at - 1us;
       return it.machine.on_deadline(it.now);
     }},
    {"no address", [](auto& it) { return it.resolve(0); }},
    {"three addresses", [](auto& it) { return it.resolve(3); }},
    {"no name", [](auto& it) { return it.resolve_fails("no such host"); }},
    {"opened", [](auto& it) { return it.open(); }},
    {"not opened", [](auto& it) { return it.open_fails("no route to host"); }},
    {"TLS started", [](auto& it) { return it.tls(); }},
    {"status", [](auto& it) { return it.reply(ok); }},
    {"string", [](auto& it) { return it.reply(loaded); }},
    {"error", [](auto& it) { return it.reply(error("ERR no")); }},
    {"refusal", [](auto& it) { return it.reply(error("NOPERM no permission")); }},
    {"odd reply", [](auto& it) { return it.reply(nothing); }},
    {"closed", [](auto& it) { return it.closed("reset by peer"); }},
    {"closed without a reason", [](auto& it) { return it.closed(""); }},
    {"unsolicited", [](auto& it) { return it.unsolicited(); }},
};

const std::string grant =
    "; grant the user of store.redis.url all permissions listed in docs/redis.md";

struct Row {
  State state;
  std::string event;
  State next;
  std::string actions;
  std::string error;  ///< last_error() after the server's address; empty: not checked
};

constexpr const char* next_address = "close, wake 500, connect 1";

/// An event without a row in a state must change nothing.
const std::vector<Row> rows{
    {State::stopped, "start", State::waiting, "wake 200", ""},
    {State::stopped, "stop", State::stopped, "close", "stopped"},

    {State::waiting, "deadline", State::resolving, "wake 700, resolve", ""},
    {State::waiting, "stop", State::stopped, "close", "stopped"},

    {State::resolving, "three addresses", State::opening, "wake 300, connect 0", ""},
    {State::resolving, "no address", State::waiting, closed_and_failed, "the name has no address"},
    {State::resolving, "no name", State::waiting, closed_and_failed, "no such host"},
    {State::resolving, "deadline", State::waiting, closed_and_failed,
     "name not resolved within 500 ms"},
    {State::resolving, "stop", State::stopped, "close", "stopped"},

    // a failed address is followed by the next one
    {State::opening, "opened", State::securing, "wake 300, start TLS", ""},
    {State::opening, "not opened", State::opening, next_address, ""},
    {State::opening, "closed", State::opening, next_address, ""},
    {State::opening, "closed without a reason", State::opening, next_address, ""},
    {State::opening, "deadline", State::opening, next_address, ""},
    {State::opening, "unsolicited", State::waiting, closed_and_failed, "unsolicited reply"},
    {State::opening, "give up", State::waiting, closed_and_failed, "no answer"},
    {State::opening, "stop", State::stopped, "close", "stopped"},

    {State::securing, "TLS started", State::introducing,
     "wake 300, send AUTH, send CLIENT SETNAME, send SELECT", ""},
    {State::securing, "not opened", State::opening, next_address, ""},
    {State::securing, "closed", State::opening, next_address, ""},
    {State::securing, "closed without a reason", State::opening, next_address, ""},
    {State::securing, "deadline", State::opening, next_address, ""},
    {State::securing, "unsolicited", State::waiting, closed_and_failed, "unsolicited reply"},
    {State::securing, "give up", State::waiting, closed_and_failed, "no answer"},
    {State::securing, "stop", State::stopped, "close", "stopped"},

    // a wrong reply ends the attempt: the server is the same at every address
    {State::introducing, "status", State::introducing, "wake 300", ""},
    {State::introducing, "string", State::waiting, closed_and_failed, "AUTH: not a reply of Redis"},
    {State::introducing, "odd reply", State::waiting, closed_and_failed,
     "AUTH: not a reply of Redis"},
    {State::introducing, "error", State::waiting, closed_and_failed, "AUTH: ERR no"},
    {State::introducing, "refusal", State::waiting, refused, "AUTH: NOPERM no permission" + grant},
    {State::introducing, "closed", State::opening, next_address, ""},
    {State::introducing, "closed without a reason", State::opening, next_address, ""},
    {State::introducing, "deadline", State::opening, next_address, ""},
    {State::introducing, "unsolicited", State::waiting, closed_and_failed, "unsolicited reply"},
    {State::introducing, "give up", State::waiting, closed_and_failed, "no answer"},
    {State::introducing, "stop", State::stopped, "close", "stopped"},

    {State::loading, "string", State::loading, "wake 300", ""},
    {State::loading, "status", State::waiting, closed_and_failed,
     "SCRIPT LOAD: not a reply of Redis"},
    {State::loading, "odd reply", State::waiting, closed_and_failed,
     "SCRIPT LOAD: not a reply of Redis"},
    {State::loading, "error", State::waiting, closed_and_failed, "SCRIPT LOAD: ERR no"},
    {State::loading, "refusal", State::waiting, refused,
     "SCRIPT LOAD: NOPERM no permission" + grant},
    {State::loading, "closed", State::opening, next_address, ""},
    {State::loading, "closed without a reason", State::opening, next_address, ""},
    {State::loading, "deadline", State::opening, next_address, ""},
    {State::loading, "unsolicited", State::waiting, closed_and_failed, "unsolicited reply"},
    {State::loading, "give up", State::waiting, closed_and_failed, "no answer"},
    {State::loading, "stop", State::stopped, "close", "stopped"},

    // no deadline while ready
    {State::ready, "give up", State::waiting, closed_and_failed, "no answer"},
    {State::ready, "closed", State::waiting, closed_and_failed, "reset by peer"},
    {State::ready, "closed without a reason", State::waiting, closed_and_failed,
     "unsolicited reply"},
    {State::ready, "unsolicited", State::waiting, closed_and_failed, "unsolicited reply"},
    {State::ready, "stop", State::stopped, "close", "stopped"},
};

const Row* row_of(State state, const std::string& event) {
  for (const Row& row : rows)
    if (row.state == state && row.event == event) return &row;
  return nullptr;
}

}  // namespace

TEST_CASE("each event in each state") {
  std::size_t used = 0;
  for (const State state : states) {
    for (const Event& event : events) {
      CAPTURE(name_of(state), event.name);
      MachineFixture fixture;
      bring_to(fixture, state);
      const auto wake_at = fixture.wake_at;
      const std::string last_error = fixture.machine.last_error();
      const Actions actions = event.happen(fixture);
      const State next = fixture.machine.state();
      if (const Row* const row = row_of(state, event.name)) {
        ++used;
        CHECK(name_of(next) == name_of(row->next));
        CHECK(fixture.text(actions) == row->actions);
        if (row->error == "stopped")
          CHECK(fixture.machine.last_error() == "stopped");
        else if (!row->error.empty())
          CHECK(fixture.machine.last_error() == "redis.example:6379: " + row->error);
      } else {
        CHECK(name_of(next) == name_of(state));
        CHECK(fixture.text(actions) == fixture.text({.wake_at = wake_at}));
        CHECK(fixture.machine.last_error() == last_error);
      }
    }
  }
  CHECK(used == rows.size());
}

TEST_CASE("a name is looked up for each attempt; an address and a unix socket are not") {
  options::Redis options;
  struct Row {
    std::string host;
    std::string unix_path;
    std::string actions;
    std::string place;
  };
  const auto row = GENERATE(values<Row>({
      {"redis.example", "", "wake 500, resolve", "redis.example:6379"},
      {"1.2.3", "", "wake 500, resolve", "1.2.3:6379"},
      {"127.0.0.1", "", "wake 500, connect 0", "127.0.0.1:6379"},
      {"2001:db8::1", "", "wake 500, connect 0", "[2001:db8::1]:6379"},
      // the system's resolver reads the zone
      {"fe80::1%eth0", "", "wake 500, resolve", "[fe80::1%eth0]:6379"},
      {"", "/run/redis.sock", "wake 500, connect 0", "/run/redis.sock"},
  }));
  CAPTURE(row.host, row.unix_path);
  options.host = row.host;
  options.unix_path = row.unix_path;
  MachineFixture fixture(options);
  CHECK(fixture.text(fixture.start()) == "wake 0");
  CHECK(fixture.text(fixture.deadline()) == row.actions);
  if (fixture.machine.state() == State::resolving) fixture.resolve(1);
  CHECK(fixture.text(fixture.open_fails("no")) == "close, pause 50, report failed");
  CHECK(fixture.machine.last_error() == row.place + ": no");
  // the next attempt begins the same way
  fixture.deadline();
  CHECK(fixture.machine.state() ==
        (row.actions.ends_with("resolve") ? State::resolving : State::opening));
}

TEST_CASE("the addresses of a name share the rest of the attempt's time") {
  MachineFixture fixture;
  fixture.succeed(State::resolving);
  fixture.pass_to(100ms);
  CHECK(fixture.text(fixture.resolve(4)) == "wake 200, connect 0");
  // one that times out leaves the others their shares
  CHECK(fixture.text(fixture.deadline()) == "close, wake 300, connect 1");
  // one that fails early leaves them more
  fixture.pass_to(210ms);
  CHECK(fixture.text(fixture.open_fails("refused")) == "close, wake 355, connect 2");
  CHECK(fixture.text(fixture.deadline()) == "close, wake 500, connect 3");
  CHECK(fixture.text(fixture.deadline()) == "close, pause 50, report failed");
  CHECK(fixture.machine.last_error() == "redis.example:6379: not ready within 500 ms");
}

TEST_CASE("an attempt fails with the error of its last address") {
  MachineFixture fixture;
  fixture.succeed(State::opening);
  fixture.closed("connection refused");
  CHECK(fixture.machine.last_error().empty());
  fixture.closed("no route to host");
  CHECK(fixture.machine.last_error() == "redis.example:6379: no route to host");
}

TEST_CASE("a late event does not start what would be over time") {
  MachineFixture fixture;
  fixture.succeed(State::resolving);
  SECTION("the result of a lookup") {
    fixture.pass_to(500ms);
    CHECK(fixture.text(fixture.resolve(2)) == "close, pause 50, report failed");
    CHECK_THAT(fixture.machine.last_error(), EndsWith("name not resolved within 500 ms"));
  }
  SECTION("the end of an address") {
    fixture.succeed(State::loading);
    fixture.pass_to(501ms);
    CHECK(fixture.text(fixture.closed("reset by peer")) == "close, pause 50, report failed");
    CHECK_THAT(fixture.machine.last_error(), EndsWith("reset by peer"));
  }
  SECTION("the deadline of an address") {
    fixture.succeed(State::introducing);
    fixture.pass_to(501ms);
    CHECK(fixture.text(fixture.deadline()) == "close, pause 50, report failed");
  }
}

TEST_CASE("the handshake: TLS, then AUTH, CLIENT SETNAME and SELECT, then the scripts") {
  struct Row {
    bool secure;
    std::string user;
    std::string password;
    int database;
    std::size_t scripts;
    std::vector<std::string> sent;
  };
  const auto row = GENERATE(values<Row>({
      {false, "", "", 0, 0, {"send CLIENT SETNAME"}},
      {false, "", "", 0, 1, {"send CLIENT SETNAME", "send SCRIPT LOAD"}},
      {false, "", "secret", 0, 0, {"send AUTH, send CLIENT SETNAME"}},
      {false, "weir", "secret", 0, 0, {"send AUTH, send CLIENT SETNAME"}},
      {false, "", "", 7, 0, {"send CLIENT SETNAME, send SELECT"}},
      {true, "", "", 0, 0, {"start TLS", "send CLIENT SETNAME"}},
      {true,
       "weir",
       "secret",
       7,
       3,
       {"start TLS", "send AUTH, send CLIENT SETNAME, send SELECT",
        "send SCRIPT LOAD, send SCRIPT LOAD, send SCRIPT LOAD"}},
  }));
  options::Redis options;
  options.host = "127.0.0.1";
  options.secure = row.secure;
  options.user = row.user;
  options.password = Secret(row.password);
  options.database = row.database;
  MachineFixture fixture(options, std::vector<std::string>(row.scripts, "return 1"));
  fixture.succeed(State::opening);
  std::vector<std::string> sent;
  for (State next = State::securing; next != State::ready;) {
    Actions actions;
    switch (fixture.machine.state()) {
      case State::opening:
        actions = fixture.open();
        break;
      case State::securing:
        actions = fixture.tls();
        break;
      default:
        actions = fixture.reply(fixture.machine.state() == State::loading ? loaded : ok);
    }
    next = fixture.machine.state();
    if (actions.start_tls || !actions.send.empty()) {
      CHECK(fixture.text(actions).starts_with("wake 500, "));
      sent.push_back(fixture.text(actions).substr(10));
    }
    CHECK((actions.report == Report::ready) == (next == State::ready));
  }
  CHECK(sent == row.sent);
  CHECK_FALSE(fixture.wake_at.has_value());
}

TEST_CASE("the SHAs are those of the last handshake, in the order of the scripts") {
  MachineFixture fixture;
  const std::string a(40, 'a');
  const std::string b(40, 'b');
  for (const bool swapped : {false, true}) {
    fixture.succeed(State::loading);
    fixture.reply({.kind = Kind::string, .text = swapped ? b : a});
    CHECK(fixture.machine.state() != State::ready);
    fixture.reply({.kind = Kind::string, .text = swapped ? a : b});
    REQUIRE(fixture.machine.state() == State::ready);
    CHECK(fixture.shas.sha(0) == (swapped ? b : a));
    CHECK(fixture.shas.sha(1) == (swapped ? a : b));
    fixture.closed("reset by peer");
  }
}

TEST_CASE("a reply to SCRIPT LOAD must be a SHA") {
  MachineFixture fixture;
  fixture.succeed(State::loading);
  CHECK(fixture.text(fixture.reply({.kind = Kind::string, .text = "OK"})) == closed_and_failed);
  CHECK_THAT(fixture.machine.last_error(), EndsWith("SCRIPT LOAD: not a reply of Redis"));
}

TEST_CASE("the server may refuse CLIENT SETNAME, and no other step") {
  MachineFixture fixture;
  fixture.succeed(State::introducing);
  fixture.reply(ok);
  SECTION("an ACL without the right") {
    CHECK(fixture.text(fixture.reply(error("NOPERM no permission"))) == "wake 250");
    CHECK(fixture.text(fixture.reply(ok)) == "wake 250, send SCRIPT LOAD, send SCRIPT LOAD");
    CHECK(fixture.text(fixture.succeed()) == "report ready");
    CHECK(fixture.machine.last_error().empty());
  }
  SECTION("a server that requires a password") {
    CHECK(fixture.text(fixture.reply(error("NOAUTH Authentication required."))) == refused);
    CHECK_THAT(fixture.machine.last_error(),
               EndsWith("CLIENT SETNAME: NOAUTH Authentication required.; check the user and the "
                        "password in store.redis.url"));
  }
  SECTION("the database") {
    fixture.reply(ok);
    CHECK(fixture.text(fixture.reply(error("ERR DB index is out of range"))) == closed_and_failed);
    CHECK_THAT(fixture.machine.last_error(), EndsWith("SELECT: ERR DB index is out of range"));
  }
}

TEST_CASE("an error reply before the connection ends explains more than the end") {
  options::Redis options;
  options.host = "redis.example";
  MachineFixture fixture(options);
  fixture.succeed(State::introducing);
  fixture.reply(error("ERR max number of clients reached"));
  fixture.closed("Server closed the connection");
  // The explanation holds for that address only.
  SECTION("the last address") {
    fixture.succeed(State::introducing);
    fixture.reply(error("ERR max number of clients reached"));
    fixture.closed("Server closed the connection");
    CHECK_THAT(fixture.machine.last_error(),
               EndsWith(": CLIENT SETNAME: ERR max number of clients reached"));
  }
  SECTION("an address that is not opened") {
    fixture.open_fails("no route to host");
    CHECK_THAT(fixture.machine.last_error(), EndsWith(": no route to host"));
  }
  SECTION("an address that closes before the handshake") {
    fixture.closed("reset by peer");
    CHECK_THAT(fixture.machine.last_error(), EndsWith(": reset by peer"));
  }
  SECTION("an address that closes without a reply") {
    fixture.succeed(State::introducing);
    fixture.closed("reset by peer");
    CHECK_THAT(fixture.machine.last_error(), EndsWith(": reset by peer"));
  }
}

TEST_CASE("no error contains the password or a part of it") {
  auto options = MachineFixture::full_options();
  SECTION("the whole password is quoted") {
    MachineFixture fixture(options);
    fixture.succeed(State::introducing);
    fixture.reply(ok);
    fixture.reply(ok);
    fixture.reply(error("ERR unknown command, with args beginning with: s3cret"));
    CHECK_THAT(fixture.machine.last_error(),
               EndsWith("SELECT: an error whose text quotes the password"));
  }
  SECTION("a part is quoted: an unknown command") {
    options.password = Secret(std::string(300, 's'));
    MachineFixture fixture(options);
    fixture.succeed(State::introducing);
    fixture.reply(error("ERR unknown command `AUTH`, with args beginning with: `" +
                        std::string(128, 's') + "`"));
    CHECK_THAT(fixture.machine.last_error(), EndsWith("AUTH: ERR unknown command "));
  }
}

TEST_CASE("an error is printable and of a bounded length") {
  MachineFixture fixture;
  fixture.succeed();
  fixture.closed("line\none\x01" + std::string(300, 'x'));
  const std::string expected = "redis.example:6379: line?one?";
  CHECK_THAT(fixture.machine.last_error(), StartsWith(expected + "xxx"));
  CHECK(fixture.machine.last_error().size() ==
        std::string_view("redis.example:6379: ").size() + 200);
}

TEST_CASE("a stopped connection can be started again") {
  MachineFixture fixture;
  bring_to(fixture, GENERATE(from_range(states)));
  fixture.stop();
  CHECK(fixture.machine.state() != State::ready);
  CHECK(fixture.text(fixture.deadline()).empty());
  CHECK(fixture.machine.state() == State::stopped);
  CHECK(fixture.text(fixture.start()) == "wake 200");
  CHECK(fixture.text(fixture.succeed()) == "report ready");
}
