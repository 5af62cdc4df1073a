// The forward phase of one request: a scripted client, an inspected head, and an upstream whose
// servers the test controls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decision/head_inspection.hpp"
#include "proxy/forward_phase.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/test_server.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {

class ForwardTest {
 public:
  using Change = void (*)(Configuration&);

  /// `change` is applied to settings with one upstream and a route to it.
  explicit ForwardTest(
      std::string its_head, std::size_t server_count = 1, Change change = [](Configuration&) {})
      : servers(server_count), world(settings_for(change), store), head(std::move(its_head)) {
    look_up();
    begin_request();
  }
  /// Begins another request of the same client, or the same one again.
  void begin_request() {
    request.clear();
    request.peer = request.client = IpAddress::v4({192, 0, 2, 1});
    REQUIRE_FALSE(decision::inspect_head(*phase.generation.request_rules, head, request));
    client.body.begin(request.has_body());
    client.responder.begin_request();
    record = {};
    record.begun_at = world.clock.now();
    count.begin(*world.counters->routes[0], record.begun_at);
  }

  upstream::Pool& pool() { return phase.pool; }
  upstream::PooledServer& server(std::size_t index = 0) {
    upstream::ServerSet others;
    others.set();
    others.reset(index);
    return *pool().choose(world.context.wheel.now(), others).server;
  }
  std::size_t idle() { return pool().state().idle; }

  /// Accepts the next connection to a server.
  void accept(std::size_t index = 0) {
    upstream.reset();
    world.run_until([&] { return (upstream = servers[index].accept()) != nullptr; });
    received.clear();
  }
  /// Runs until the bytes received by the upstream end with `text`.
  void receive_until(std::string_view text) {
    world.run_until([&] {
      received += upstream->receive();
      return received.ends_with(text);
    });
  }
  /// Accepts a connection and reads a request without a body.
  void receive_head(std::size_t index = 0) {
    accept(index);
    receive_until("\r\n\r\n");
  }
  bool client_has(std::string_view body) const { return client.responder.received.body == body; }

  std::vector<TestServer> servers;
  store::test::FakeStore store;
  World world;
  ScriptedClient client{world.io, world.context.wheel};
  std::string head;
  http::ReceivedRequest request;
  ForwardingRecord record;
  RequestCount count;
  const http::FieldSection limit_fields{{"RateLimit", "\"p\";r=1"}};
  ForwardPhase phase{.context = world.context,
                     .generation = *world.context.generation,
                     .client = client.side,
                     .request = request,
                     .limit_fields = &limit_fields,
                     .pool = *world.context.generation->pools[0],
                     .counters = *world.counters->upstreams[0],
                     .record = record,
                     .count = count};
  std::unique_ptr<FarEnd> upstream;  ///< the connection accepted last
  std::string received;              ///< on it

 private:
  /// The resolver has a thread of its own, so coarse time must not advance before it is done.
  void look_up() {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      std::optional<error_code> found;
      const std::uint64_t tick = world.context.wheel.now();
      loop::spawn(world.io, note_result(server(i).resolve(tick, std::chrono::seconds(60)), found));
      world.run_until([&] { return found.has_value(); });
      REQUIRE_FALSE(*found);
    }
  }
  Configuration settings_for(Change change) const {
    Configuration settings;
    std::vector<std::uint16_t> ports;
    for (const TestServer& server : servers)
      ports.push_back(server.port());
    settings.upstreams.push_back(upstream_at(ports));
    options::Route route;
    route.name = "forwarded";
    route.upstream = 0;
    settings.proxy.routes = {route};
    change(settings);
    return settings;
  }
};

}  // namespace weir::proxy::test
