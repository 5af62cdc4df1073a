// A configuration and requests for the tests of explanations.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "cli/explanation.hpp"
#include "config/load.hpp"

namespace weir::cli {

inline constexpr auto explained_yaml = R"(
listen: [{address: "127.0.0.1:0"}]
client_address: {trusted_proxies: [10.0.0.0/8]}
downstream: {max_body: 10}
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
identities:
  client: {client_address: {}}
  user: {header: x-user}
  key: {any_of: [{header: x-key}, {query: key}]}
policies:
  per_user: {algorithm: gcra, rate: 600/1m, burst: 20}
  per_client: {algorithm: token_bucket, rate: 10/1s}
  small: {algorithm: fixed_window, rate: 3/1m, status: 503}
  watched: {algorithm: sliding_log, rate: 1/1m, mode: shadow}
  smooth: {algorithm: leaky_bucket, rate: 10/1s, queue: 5}
  tiers: {algorithm: sliding_window, rates: [10/1s, 100/1m]}
routes:
  - name: search
    match: {path: /v1/search, methods: [GET]}
    upstream: api
    limits: [{policy: per_user, key: user, otherwise: client, cost: 5}, {policy: per_client, key: key}]
  - name: costly
    match: {path: /costly}
    respond: {status: 200}
    limits: [{policy: small, key: client, cost: 5}, {policy: per_client, key: client}]
  - name: private
    match: {path: /private}
    upstream: api
    limits: [{policy: per_user, key: user, required: true}, {policy: per_client, key: client}]
  - name: shadow
    match: {path: /shadow}
    respond: {status: 204}
    limits: [{policy: watched, key: client, cost: 2}]
  - name: smooth
    match: {path: /smooth}
    respond: {status: 200}
    limits: [{policy: smooth, key: client}, {policy: tiers, key: user}]
  - name: asked
    match: {path: /asked/**}
    decide: true
)";

/// Every variable of the environment is 77.
inline std::shared_ptr<const config::Config> loaded_config(
    const std::string& text = explained_yaml) {
  auto environment = config::process_environment(".");
  environment.variable = [](const std::string&) { return "77"; };
  const auto result = config::load_text(text, environment);
  if (!result) FAIL(result.error().front().to_string());
  return *result;
}

/// A request as it is given to `weir explain`.
struct Sent {
  RequestArguments arguments;
  std::string peer = "192.0.2.7";
};

inline Explanation explained(const config::Config& configuration, const Sent& sent) {
  const auto head = request_head(sent.arguments);
  REQUIRE(head.has_value());
  const auto peer = IpAddress::parse(sent.peer);
  REQUIRE(peer.has_value());
  return explain(configuration, *peer, *head, instant_from_us(1'000'000'000'000'000));
}

inline Sent get(const std::string& target, std::vector<std::string> fields = {}) {
  return {.arguments = {.url = "http://api.example.com" + target, .fields = std::move(fields)}};
}

}  // namespace weir::cli
