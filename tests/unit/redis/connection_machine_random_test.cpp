// Random histories of a ConnectionMachine: expected and unexpected events, early and late, with
// right and wrong replies. A model of the resources that Connection holds checks each action.
#include <random>

#include "catch.hpp"
#include "machine_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

namespace {

constexpr std::string_view password = "s3cret";

/// The resources held after the actions so far: a lookup, a socket, unanswered commands, a timer.
struct MachineWorld {
  explicit MachineWorld(const MachineFixture& its_fixture) : fixture(its_fixture) {}

  void carry_out(const Actions& actions, State before, Time now) {
    const ConnectionMachine& machine = fixture.machine;
    const State state = machine.state();
    if (actions.close) lookup = socket = secured = false, unanswered = answered = 0;

    // A timer is armed exactly while something is awaited, within its bounds.
    const bool rests = state == State::stopped || state == State::ready;
    REQUIRE(actions.wake_at.has_value() == !rests);
    if (before == State::waiting && state > before) {
      attempt_at = now;
      addresses = 1;
    }
    if (state == State::waiting && actions.report == Report::failed) {
      REQUIRE(*actions.wake_at - now >= shortest_retry_after / 2);
      REQUIRE(*actions.wake_at - now <= longest_retry_after);
    } else if (state > State::waiting && state < State::ready) {
      REQUIRE(*actions.wake_at <= attempt_at + fixture.options.connect_timeout);
    }

    // One attempt at a time; the connection follows the end of the lookup.
    if (before == State::resolving && state == State::opening) lookup = false;
    if (actions.resolve || actions.connect) {
      REQUIRE_FALSE(lookup);
      REQUIRE_FALSE(socket);
    }
    if (actions.resolve) lookup = true;
    if (actions.connect) {
      REQUIRE(*actions.connect < addresses);
      REQUIRE(*actions.connect == (before <= State::resolving ? 0 : last_address + 1));
      last_address = *actions.connect;
      socket = true;
      commands = 0;
    }
    REQUIRE(socket == (state >= State::opening));
    REQUIRE(lookup == (state == State::resolving));

    // The handshake follows TLS, and all of it is answered before the connection is ready.
    if (actions.start_tls) {
      REQUIRE(fixture.options.secure);
      REQUIRE(commands == 0);
      secured = true;
    }
    if (!actions.send.empty()) {
      REQUIRE(unanswered == 0);
      REQUIRE(secured == fixture.options.secure);
      unanswered = actions.send.size();
      commands += unanswered;
    }
    REQUIRE((actions.report == Report::ready) == (state == State::ready && before != state));
    if (actions.report == Report::ready) {
      REQUIRE(unanswered == 0);
      REQUIRE(answered == commands);
      REQUIRE(commands == handshake_of(fixture.options, fixture.scripts).size());
      REQUIRE(machine.last_error().empty());
    }

    const bool ended = state == State::waiting && before > State::waiting;
    REQUIRE((actions.report == Report::failed) == ended);
    if (ended) REQUIRE_FALSE(machine.last_error().empty());
    REQUIRE(machine.last_error().find(password) == std::string::npos);
    if (state == State::ready) REQUIRE(machine.last_failure() == store::Error::none);
    wake_at = actions.wake_at;
  }

  const MachineFixture& fixture;
  std::size_t addresses = 1;
  std::size_t last_address = 0;
  bool lookup = false;
  bool socket = false;
  bool secured = false;
  std::size_t commands = 0;
  std::size_t unanswered = 0;
  std::size_t answered = 0;
  Time attempt_at;
  std::optional<Time> wake_at;
};

class History {
 public:
  History(const options::Redis& options, std::size_t scripts, std::uint64_t seed)
      : random_(seed),
        fixture_(options, std::vector<std::string>(scripts, "return 1"), seed),
        world_(fixture_) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      if (i % 50 == 0) recover();
    }
    stop();
  }
  int times_ready() const { return times_ready_; }
  int times_failed() const { return times_failed_; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool once_in(std::uint64_t limit) { return below(limit) == 0; }

  void carry_out(const Actions& actions, State before) {
    world_.carry_out(actions, before, fixture_.now);
    times_ready_ += actions.report == Report::ready;
    times_failed_ += actions.report == Report::failed;
  }
  void step() {
    fixture_.pass(Duration{static_cast<std::int64_t>(below(once_in(20) ? 2'000'000 : 20'000))});
    const State before = fixture_.machine.state();
    // Half of the events are the expected ones, so that histories reach every state.
    carry_out(once_in(2) ? anything() : what_fits(before), before);
  }

  Actions what_fits(State state) {
    switch (state) {
      case State::stopped:
        return fixture_.start();
      case State::resolving:
        return resolve(once_in(8) ? 0 : 1 + below(4));
      case State::opening:
        return fixture_.open();
      case State::securing:
        return fixture_.tls();
      case State::introducing:
        return reply(ok);
      case State::loading:
        return reply(loaded);
      case State::waiting:
      case State::ready:
        break;
    }
    return fixture_.deadline();
  }

  Actions anything() {
    switch (below(24)) {
      case 0:
        return fixture_.start();
      case 1:
        return once_in(4) ? fixture_.stop() : fixture_.start();
      case 2:
        return fixture_.give_up("no answer within 20 ms");
      case 3:
        return resolve(below(4));
      case 4:
        return fixture_.resolve_fails("no such host");
      case 5:
        return fixture_.open();
      case 6:
        return fixture_.open_fails("no route to host");
      case 7:
        return fixture_.tls();
      case 8:
        return reply(error("ERR unknown: s3cret"));
      case 9:
        return reply(error("NOPERM no permission"));
      case 10:
        return reply(nothing);
      case 11:
      case 12:
      case 13:
        return reply(ok);
      case 14:
      case 15:
      case 16:
        return reply(loaded);
      case 17:
        return fixture_.closed("reset by peer");
      case 18:
        return fixture_.closed("");
      case 19:
        return fixture_.unsolicited();
      case 20:
        return once_in(4) ? fixture_.exception("out of memory") : fixture_.deadline();
      default:
        // mostly too early
        return fixture_.machine.on_deadline(fixture_.now);
    }
  }
  Actions resolve(std::size_t count) {
    if (fixture_.machine.state() == State::resolving) world_.addresses = count;
    return fixture_.resolve(count);
  }
  Actions reply(const HandshakeReply& reply) {
    if (world_.unanswered > 0) {
      --world_.unanswered;
      ++world_.answered;
    }
    return fixture_.reply(reply);
  }

  /// With a healthy server the connection is ready soon, from any state.
  void recover() {
    const Time since = fixture_.now;
    while (fixture_.machine.state() != State::ready) {
      const State before = fixture_.machine.state();
      carry_out(before == State::resolving ? resolve(2) : what_fits(before), before);
    }
    // the rest of the current attempt, and one pause
    REQUIRE(fixture_.now - since <= fixture_.options.connect_timeout + longest_retry_after);
  }
  void stop() {
    const State before = fixture_.machine.state();
    carry_out(fixture_.stop(), before);
    REQUIRE_FALSE(world_.wake_at);
    REQUIRE_FALSE(world_.lookup);
    REQUIRE_FALSE(world_.socket);
    for (int i = 0; i < 200; ++i) {
      const Actions actions = anything();
      if (fixture_.machine.state() == State::stopped)
        REQUIRE(fixture_.text(actions) == (actions.close ? "close" : ""));
      else
        static_cast<void>(fixture_.stop());
    }
  }

  std::mt19937_64 random_;
  MachineFixture fixture_;
  MachineWorld world_;
  int times_ready_ = 0;
  int times_failed_ = 0;
};

options::Redis options_of(const std::string& way) {
  auto options = MachineFixture::full_options();
  if (way == "address") options.host = "127.0.0.1";
  if (way == "unix") options.unix_path = "/run/redis.sock";
  options.secure = way == "TLS";
  return options;
}

}  // namespace

TEST_CASE(
    "random events: one attempt at a time, within its time, ready after the whole handshake") {
  const std::string way = GENERATE("name", "TLS", "address", "unix");
  const std::size_t scripts = GENERATE(0, 3);
  const std::uint64_t seed = GENERATE(range(1, 21));
  CAPTURE(way, scripts, seed);
  History history(options_of(way), scripts, seed);
  history.run(2'000);
  CHECK(history.times_ready() > 20);
  CHECK(history.times_failed() > 20);
}
