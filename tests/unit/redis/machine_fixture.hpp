// A ConnectionMachine with an injected clock, and its actions as text.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/backoff.hpp"
#include "redis/connection_machine.hpp"

namespace weir::redis::test {

using namespace std::chrono_literals;
using State = ConnectionMachine::State;
using Report = ConnectionMachine::Report;
using Actions = ConnectionMachine::Actions;
using Time = ConnectionMachine::Time;
using Kind = HandshakeReply::Kind;

/// The tests start at this time; a time_point's default value is not a valid time here.
inline constexpr Time machine_epoch{std::chrono::hours(1000)};

inline const std::string_view some_sha = "0123456789abcdef0123456789abcdef01234567";
inline constexpr HandshakeReply ok{.kind = Kind::status, .text = "OK"};
inline const HandshakeReply loaded{.kind = Kind::string, .text = some_sha};
inline constexpr HandshakeReply nothing{.kind = Kind::other, .text = {}};
inline constexpr HandshakeReply error(std::string_view text) {
  return {.kind = Kind::error, .text = text};
}

inline std::string_view name_of(State state) {
  constexpr std::string_view names[] = {"stopped",  "waiting",     "resolving", "opening",
                                        "securing", "introducing", "loading",   "ready"};
  return names[static_cast<std::size_t>(state)];
}
inline constexpr std::array states{State::stopped, State::waiting,  State::resolving,
                                   State::opening, State::securing, State::introducing,
                                   State::loading, State::ready};

/// The actions after a first failure, and after a refusal, as MachineFixture::text() has them.
inline constexpr const char* closed_and_failed = "close, pause 50, report failed";
inline constexpr const char* refused = "close, pause 1000, report failed";

struct MachineFixture {
  /// A host name, and every step of the handshake but a user.
  static options::Redis full_options() {
    options::Redis options;
    options.host = "redis.example";
    options.secure = true;
    options.password = Secret("s3cret");
    options.database = 3;
    options.connect_timeout = 500ms;
    return options;
  }

  explicit MachineFixture(options::Redis its_options = full_options(),
                          std::vector<std::string> its_scripts = {"return 1", "return 2"},
                          std::uint64_t seed = 1)
      : options(std::move(its_options)),
        scripts(std::move(its_scripts)),
        machine(options, scripts, shas, seed) {}
  MachineFixture(const MachineFixture&) = delete;
  MachineFixture& operator=(const MachineFixture&) = delete;

  void pass(Duration time) { now += time; }
  void pass_to(Duration since_epoch) { now = machine_epoch + since_epoch; }
  Actions start() { return done(machine.start(now)); }
  Actions stop() { return done(machine.stop()); }
  Actions give_up(std::string_view why) { return done(machine.give_up(why, now)); }
  Actions resolve(std::size_t count, std::string server = {}) {
    return done(machine.on_resolved(count, now, std::move(server)));
  }
  Actions resolve_fails(std::string_view why) { return done(machine.on_resolve_failed(why, now)); }
  Actions open() { return done(machine.on_opened()); }
  Actions open_fails(std::string_view why) { return done(machine.on_open_failed(why, now)); }
  Actions tls() { return done(machine.on_tls_started()); }
  Actions reply(const HandshakeReply& reply) { return done(machine.on_reply(reply, now)); }
  Actions closed(std::string_view why,
                 ConnectionMachine::Cause cause = ConnectionMachine::Cause::connection) {
    return done(machine.on_closed(why, now, cause));
  }
  Actions exception(std::string_view why) { return done(machine.on_exception(why, now)); }
  Actions unsolicited() { return done(machine.on_unsolicited(now)); }
  /// Advances the clock to wake_at, unless that has passed.
  Actions deadline() {
    if (wake_at) now = std::max(now, *wake_at);
    return done(machine.on_deadline(now));
  }

  /// Acts as a healthy server until `end` is reached: everything succeeds in no time, and the name
  /// has two addresses.
  Actions succeed(State end = State::ready) {
    Actions last;
    while (machine.state() != end) {
      switch (machine.state()) {
        case State::stopped:
          last = start();
          break;
        case State::waiting:
          last = deadline();
          break;
        case State::resolving:
          last = resolve(2);
          break;
        case State::opening:
          last = open();
          break;
        case State::securing:
          last = tls();
          break;
        case State::introducing:
          last = reply(ok);
          break;
        case State::loading:
          last = reply(loaded);
          break;
        case State::ready:
          return last;
      }
    }
    return last;
  }

  /// Returns `close, wake 300, connect 1`: times in milliseconds since the epoch. The pause
  /// before the next attempt is random: `pause 50` means 25 to 50 ms, `pause 1000` means 500 to
  /// 1000 ms.
  std::string text(const Actions& actions) const {
    std::string out;
    const auto add = [&out](const std::string& what) { out += out.empty() ? what : ", " + what; };
    if (actions.close) add("close");
    if (actions.report == Report::failed && actions.wake_at)
      add("pause " + std::to_string(longest_pause(*actions.wake_at - now) / 1ms));
    else if (actions.wake_at)
      add("wake " + std::to_string((*actions.wake_at - machine_epoch) / 1ms));
    if (actions.resolve) add("resolve");
    if (actions.connect) add("connect " + std::to_string(*actions.connect));
    if (actions.start_tls) add("start TLS");
    for (const auto& command : actions.send)
      add("send " + std::string(to_string(command.step)));
    if (actions.report == Report::ready) add("report ready");
    if (actions.report == Report::failed) add("report failed");
    return out;
  }

  options::Redis options;
  std::vector<std::string> scripts;
  ScriptShas shas;
  ConnectionMachine machine;
  Time now = machine_epoch;
  std::optional<Time> wake_at;

 private:
  Actions done(Actions actions) {
    wake_at = actions.wake_at;
    return actions;
  }
  /// The longest of the pauses in whose upper half this one is.
  static Time::duration longest_pause(Time::duration pause) {
    for (int failures = failures_at_longest; failures > 0; --failures) {
      const Duration longest = retry_after(failures, 0);
      if (pause >= longest / 2 && pause <= longest) return longest;
    }
    return -1ms;
  }
};

}  // namespace weir::redis::test
