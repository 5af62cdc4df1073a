// Consecutive attempts of one client on an upstream with one server.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "proxy/attempt.hpp"
#include "unit/proxy/forward_phase.hpp"

namespace weir::proxy::test {

inline const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
inline const std::string long_post =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12000000\r\n\r\n";
inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
inline const std::string begun = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun";

/// Consecutive attempts of one client.
class Tried : public ForwardTest {
 public:
  explicit Tried(
      std::string its_head, Change change = [](Configuration&) {})
      : ForwardTest(std::move(its_head), 1, change) {}
  ~Tried() {
    client.watchdog.abort();
    world.run_until([&] { return has_ended(); });
  }

  void start(bool may_reuse = true) {
    result.reset();
    attempt.emplace(phase, server());
    loop::spawn(world.io, note_result(attempt->run(may_reuse), result));
  }
  /// Starts with a body that has arrived whole and of which the server receives nothing.
  void start_with_long_body() {
    client.body.arrive(large_text(12'000'000));
    client.body.end();
    start();
    accept();
    world.run_until([&] { return client.watchdog.phase() == Phase::body; });
  }
  /// Starts, and lets the server receive the whole head.
  void start_and_receive() {
    start();
    receive_head();
  }
  bool has_ended() const { return !attempt || result; }
  Failure finish() {
    world.run_until([&] { return has_ended(); });
    return *result;
  }
  Failure finish_in_time() {
    world.tick_until([&] { return has_ended(); });
    return *result;
  }
  /// Relays a response after which the server keeps its connection.
  void leave_idle_connection() {
    start_and_receive();
    upstream->send(ok);
    REQUIRE(finish() == Failure::none);
    REQUIRE(idle() == 1);
    begin_request();
    received.clear();
  }
  const ReceivedResponse& response() const { return client.responder.received; }

  std::optional<Attempt> attempt;
  std::optional<Failure> result;
};

}  // namespace weir::proxy::test
