// An exchange with a client without sockets, a scripted store and an upstream on loopback.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "decision/head_inspection.hpp"
#include "proxy/exchange.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/test_server.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {

using namespace std::chrono_literals;

inline constexpr std::size_t by_address = 0, by_key = 1, by_query = 2;
enum RouteIndex : std::size_t { fixed, limited, shadowed, strict, query, leaky, up, unrouted };
inline constexpr Duration long_delay = 1h;

inline options::Route route_to(std::string_view path) {
  options::Route route;
  route.name = std::string(path.substr(1));
  route.shown_path = std::string(path);
  route.match.path = routing::PathPattern::parse(path).value();
  return route;
}

/// Applies a new policy, keyed by `identity`, to a route.
inline limiter::Policy& limit(Configuration& settings, options::Route& route, std::string name,
                              std::size_t identity) {
  auto& limit = route.limits.emplace_back();
  limit.policy = settings.limiter.policies.size();
  limit.identity = identity;
  auto& policy = settings.limiter.policies.emplace_back();
  policy.name = std::move(name);
  policy.numbers = store::test::gcra(1);
  policy.policy_item = http::policy_item(policy.name, 1, 3'600s);
  policy.name_item = http::name_item(policy.name);
  return policy;
}

inline Configuration settings_for(std::uint16_t upstream_port) {
  Configuration settings;
  settings.limiter.identities = {{.name = "address", .source = {identity::FromClientAddress{}}},
                                 {.name = "key", .source = {identity::FromHeader{"x-key"}}},
                                 {.name = "query", .source = {identity::FromQuery{"key"}}}};
  settings.upstreams = {upstream_at({upstream_port})};
  settings.upstreams[0].retries = 0;
  settings.proxy.routes = {route_to("/fixed"),  route_to("/limited"), route_to("/shadowed"),
                           route_to("/strict"), route_to("/query"),   route_to("/leaky"),
                           route_to("/up")};
  auto& routes = settings.proxy.routes;
  routes[fixed].respond = {.status = 203, .body = "hello", .content_type = "text/html"};
  limit(settings, routes[limited], "one", by_address).on_failure = store::OnFailure::deny;
  auto& shadow = limit(settings, routes[shadowed], "shadow", by_address);
  shadow.shadow = true;
  shadow.visible = false;
  limit(settings, routes[strict], "keyed", by_key);
  routes[strict].limits[0].required = true;
  routes[strict].challenge = {{"WWW-Authenticate", "Bearer"}};
  limit(settings, routes[query], "query", by_query);
  limit(settings, routes[leaky], "leaky", by_address).numbers =
      store::test::policy(rules::Algorithm::leaky_bucket, 4, 4 * long_delay);
  routes[up].upstream = 0;
  return settings;
}

class Exchanged {
 public:
  Exchanged() : Exchanged([](Configuration&) {}) {}
  /// `change`: of the settings.
  template <class Change>
  explicit Exchanged(Change&& change)
      : world(
            [&] {
              Configuration settings = settings_for(upstream.port());
              change(settings);
              return settings;
            }(),
            store, store::Decider::redis) {
    store.at_once = true;
  }
  ~Exchanged() {
    client.watchdog.abort();
    store.answer_all(store::test::epoch);
    world.run_until([&] { return has_ended; });
    exchange.release();
  }

  void begin(const std::string& request_line, const std::string& fields = "") {
    head = request_line + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    has_ended = false;
    client.responder.begin_request();
    exchange.begin(client.side);
    auto& request = exchange.request();
    request.peer = request.client = IpAddress::v4({192, 0, 2, 1});
    const auto refusal =
        decision::inspect_head(*exchange.generation().request_rules, head, request);
    request.is_grpc_call = is_call;
    client.body.begin(request.is_framed && request.has_body());
    loop::spawn(world.io,
                note_end(refusal ? exchange.refuse(*refusal) : exchange.serve(), has_ended));
    world.poll();
  }
  /// Serves a whole request; returns its line in the access log.
  std::string ask(const std::string& request_line, const std::string& fields = "") {
    begin(request_line, fields);
    return finish();
  }
  std::string finish() {
    world.run_until([&] { return has_ended; });
    exchange.finish();
    return world.logged();
  }
  const ReceivedResponse& response() const { return client.responder.received; }
  std::uint64_t counted(RouteIndex route, int status) const {
    return world.counters->routes[route]->by_status[static_cast<std::size_t>(status - 100)].value();
  }
  /// The sum over all routes and statuses.
  std::uint64_t counted() const {
    std::uint64_t sum = 0;
    for (const auto& route : world.counters->routes) {
      for (const Counter& status : route->by_status)
        sum += status.value();
    }
    return sum;
  }

  store::test::FakeStore store;
  TestServer upstream;
  World world;
  ScriptedClient client{world.io, world.context.wheel};
  std::string head;
  Exchange exchange{world.context};
  bool is_call = false;  ///< the next requests are calls of gRPC
  bool has_ended = true;
};

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace weir::proxy::test
