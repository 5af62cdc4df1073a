// Two configurations decide the same requests: flips, their keys, requests in progress, costs.
#include "offline/comparison.hpp"

#include "unit/offline/site.hpp"

namespace weir::offline::test {
namespace {

constexpr auto keyed = R"(
identities: {key: {header: x-key}}
policies: {per_key: {algorithm: fixed_window, rate: 2/1m}}
routes: [{respond: {status: 200}, limits: [{policy: per_key, key: key}]}]
)";

constexpr auto one_slot = R"(
policies: {slots: {algorithm: concurrency, limit: 1, queue: 1, max_wait: 5s}}
routes: [{respond: {status: 200}, limits: [{policy: slots}]}]
)";

constexpr auto edge = R"(
policies: {per_key: {algorithm: fixed_window, rate: 2/1m}}
routes: [{respond: {status: 200}}]
rate_limit_service:
  listen: [{address: "127.0.0.1:0"}]
  descriptors: [{domain: edge, entries: {user: "*"}, policy: per_key, key: [user]}]
)";

constexpr auto call_of_a =
    R"({"domain":"edge","descriptors":[{"entries":[{"key":"user","value":"a"}]}]})";

constexpr auto chat = R"(
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
policies: {tokens: {algorithm: fixed_window, rate: 100/1h}}
routes:
  - upstream: api
    limits: [{policy: tokens, reserve: 10, cost_from: [{json: /usage/total}]}]
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos) FAIL("there is no " + what);
  return text.replace(at, what.size(), by);
}

/// A comparison of two texts. Requests have the numbers of their order, from 1.
struct Compared {
  Compared(const std::string& before, const std::string& after)
      : running(before),
        candidate(after),
        comparison(configuration_of(running), configuration_of(candidate), {.max_keys = 1'000}) {}

  static Comparison::Configuration configuration_of(const Site& site) {
    const auto& service = site.config->rate_limit_service;
    return {.proxy = site.config->proxy,
            .limits = site.config->limiter,
            .service = service ? &*service : nullptr};
  }

  std::uint64_t arrive(Duration after = 0s, const std::string& fields = {},
                       const std::string& target = "/") {
    const std::string head = "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    comparison.arrive({.head = head, .peer = IpAddress::v4({192, 0, 2, 1}), .label = ++labels},
                      start + after);
    return labels;
  }
  void end(std::uint64_t label, Duration after, RealEnd real) {
    comparison.end(label, std::move(real), start + after);
  }
  /// A request that is answered at once.
  void pass(Duration after = 0s, const std::string& fields = {}, const std::string& target = "/") {
    const auto label = arrive(after, fields, target);
    end(label, after, {.how = {.status = 200}, .served = 0s});
  }
  std::uint64_t decisions() const { return comparison.counts().decisions; }
  std::uint64_t flips() const { return comparison.counts().flips; }

  Site running, candidate;
  Comparison comparison;
  std::uint64_t labels = 0;
};

}  // namespace

TEST_CASE("comparison: the same configuration flips nothing") {
  Compared of(keyed, keyed);
  for (int i = 0; i < 10; ++i)
    of.pass(0s, "X-Key: a\r\n");
  CHECK(of.decisions() == 10);
  CHECK(of.flips() == 0);
  CHECK(of.comparison.in_progress() == 0);
  CHECK(of.comparison.top_keys(10).empty());
}

TEST_CASE("comparison: a lower limit flips what it denies, and lists the keys by their hash") {
  Compared of(keyed, replaced(keyed, "2/1m", "1/1m"));
  for (int i = 0; i < 3; ++i)
    of.pass(0s, "X-Key: a\r\n");
  for (int minute = 0; minute < 2; ++minute) {
    for (int i = 0; i < 2; ++i)
      of.pass(minute * 1min, "X-Key: b\r\n");
  }
  CHECK(of.decisions() == 7);
  CHECK(of.flips() == 3);
  const auto keys = of.comparison.top_keys(10);
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].flips == 2);
  CHECK(keys[0].error == 0);
  CHECK(keys[0].is_denied);
  CHECK(keys[0].policy == "per_key");
  CHECK(keys[0].identity == "key");
  CHECK(keys[1].flips == 1);
  CHECK(keys[0].hash != keys[1].hash);
  CHECK(of.comparison.top_keys(1).size() == 1);
}

TEST_CASE("comparison: a higher limit flips what it admits, under the key that was denied") {
  Compared of(keyed, replaced(keyed, "2/1m", "3/1m"));
  for (int i = 0; i < 4; ++i)
    of.pass(0s, "X-Key: a\r\n");
  CHECK(of.flips() == 1);
  const auto keys = of.comparison.top_keys(10);
  REQUIRE(keys.size() == 1);
  CHECK_FALSE(keys[0].is_denied);
}

TEST_CASE("comparison: calls of the rate limit service flip as requests do") {
  Compared of(edge, replaced(edge, "2/1m", "1/1m, status: 503"));
  for (int i = 0; i < 4; ++i)
    of.comparison.call(decision::CopiedMethod::decide_json, call_of_a, start);
  CHECK(of.decisions() == 4);
  CHECK(of.flips() == 1);  // the second; the status of a policy is not that of a call
  CHECK(of.comparison.counts().to_denied == 1);
  const auto keys = of.comparison.top_keys(10);
  REQUIRE(keys.size() == 1);
  CHECK(keys[0].policy == "per_key");
  CHECK(keys[0].is_denied);
  of.comparison.call(decision::CopiedMethod::decide_json, call_of_a, start + 1min);
  CHECK(of.decisions() == 5);
  CHECK(of.flips() == 1);
}

TEST_CASE("comparison: a call that only one configuration understands") {
  SECTION("is not compared without the service") {
    Compared of(edge, keyed);
    of.comparison.call(decision::CopiedMethod::decide_json, call_of_a, start);
    CHECK(of.comparison.counts().not_compared == 1);
    CHECK(of.decisions() == 0);
  }
  SECTION("is the same if neither can read it") {
    Compared of(edge, edge);
    of.comparison.call(decision::CopiedMethod::decide_json, "{", start);
    CHECK(of.decisions() == 1);
    CHECK(of.flips() == 0);
  }
}

TEST_CASE("comparison: a status that differs is a flip") {
  SECTION("of a denial") {
    Compared of(keyed, replaced(keyed, "rate: 2/1m", "rate: 2/1m, status: 503"));
    for (int i = 0; i < 3; ++i)
      of.pass(0s, "X-Key: a\r\n");
    CHECK(of.flips() == 1);
    CHECK(of.comparison.top_keys(10).size() == 1);
  }
  SECTION("of a fixed response, which has no key") {
    Compared of(keyed, replaced(keyed, "respond: {status: 200}", "respond: {status: 403}"));
    of.pass(0s, "X-Key: a\r\n");
    CHECK(of.flips() == 1);
    CHECK(of.comparison.top_keys(10).empty());
  }
  SECTION("of a request that no route matches any more") {
    Compared of(keyed, replaced(keyed, "{respond:", "{match: {path: /a}, respond:"));
    of.pass(0s, "", "/a");
    of.pass(0s, "", "/b");
    CHECK(of.decisions() == 2);
    CHECK(of.flips() == 1);
  }
  SECTION("of a required identity that is absent") {
    Compared of(keyed, replaced(keyed, "key: key", "key: key, required: true"));
    of.pass();
    CHECK(of.flips() == 1);
  }
}

TEST_CASE("comparison: a policy in shadow mode that is enforced flips its denials") {
  Compared of(replaced(keyed, "2/1m", "2/1m, mode: shadow"), keyed);
  for (int i = 0; i < 5; ++i)
    of.pass(0s, "X-Key: a\r\n");
  CHECK(of.flips() == 3);
}

TEST_CASE("comparison: a request is in progress as long as the real one was") {
  Compared of(replaced(one_slot, "limit: 1, queue: 1, max_wait: 5s", "limit: 2"), one_slot);
  const auto first = of.arrive(0s);
  const auto second = of.arrive(1s);
  CHECK(of.decisions() == 1);  // the second one waits for a slot of the candidate
  of.end(first, 3s, {.how = {.status = 200}, .served = 3s});
  CHECK(of.decisions() == 2);
  CHECK(of.flips() == 0);
  of.end(second, 3s, {.how = {.status = 200}, .served = 2s});
  of.comparison.advance(start + 5s - 1us);
  CHECK(of.comparison.in_progress() == 1);  // it was admitted at 3 s
  of.comparison.advance(start + 5s);
  CHECK(of.comparison.in_progress() == 0);
}

TEST_CASE("comparison: a request that waits too long for a slot is denied") {
  Compared of(replaced(one_slot, "limit: 1, queue: 1, max_wait: 5s", "limit: 2"), one_slot);
  const auto first = of.arrive(0s);
  const auto second = of.arrive(1s);
  of.end(second, 2s, {.how = {.status = 200}, .served = 1s});
  of.comparison.advance(start + 7s);
  CHECK(of.decisions() == 2);
  CHECK(of.flips() == 1);
  of.end(first, 8s, {.how = {.status = 200}, .served = 8s});
  CHECK(of.comparison.in_progress() == 0);
}

TEST_CASE("comparison: both charge what the response has stated") {
  Compared of(chat, replaced(chat, "100/1h", "60/1h"));
  const auto first = of.arrive();
  usage::Usage stated;
  stated.cost = 55;
  of.end(first, 0s,
         {.how = {.status = 200}, .served = 0s, .stated = {{.policy = "tokens", .usage = stated}}});
  const auto second = of.arrive();
  CHECK(of.decisions() == 2);
  CHECK(of.flips() == 1);  // 55 and 10 are more than 60
  of.end(second, 0s, {.how = {.status = 502}, .served = 0s});
}

TEST_CASE("comparison: a request without a response charges what it holds where it is admitted") {
  Compared of(replaced(chat, "100/1h", "5/1h"), replaced(chat, "100/1h", "15/1h"));
  const auto first = of.arrive();
  of.end(first, 0s, {});
  const auto second = of.arrive();
  of.end(second, 0s, {});
  CHECK(of.decisions() == 2);
  CHECK(of.flips() == 1);  // the second one is denied by both
}

TEST_CASE("comparison: unknown labels, repeated ends and earlier instants are harmless") {
  Compared of(keyed, keyed);
  of.end(7, 0s, {});
  const auto label = of.arrive(2s);
  of.comparison.arrive({.head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", .label = label}, start);
  CHECK(of.decisions() == 1);
  of.end(label, 1s, {.how = {.status = 200}, .served = 0s});
  of.end(label, 1s, {.how = {.status = 200}, .served = 0s});
  CHECK(of.comparison.in_progress() == 0);
}

}  // namespace weir::offline::test
