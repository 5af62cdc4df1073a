// Lines of Weir's own log, as requests that a copy of the configuration reads.
#include "replay/own_log.hpp"

#include <array>

#include "catch.hpp"
#include "config/load.hpp"
#include "replay/run.hpp"

namespace weir::replay {
namespace {

constexpr auto own_limits = R"(
listen: [{address: "127.0.0.1:1"}]
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
identities: {key: {header: x-key}, user: {cookie: user}}
plans: {free: {}, gold: {p: {rate: 9/1h}}}
plan_from: [{header: x-plan}]
default_plan: free
policies:
  p: {algorithm: fixed_window, rate: 2/1h}
  q: {algorithm: token_bucket, rate: 100/1h}
routes:
  - name: by-host
    match: {host: api.example.com, path: /**}
    upstream: api
    limits: [{policy: p, key: key}]
  - name: both
    match: {path: /both}
    upstream: api
    limits:
      - {policy: p, key: key}
      - {policy: q, key: user, reserve: {json: /max, default: 50}, cost_from: [{json: /used}]}
)";

class OwnLines {
 public:
  Report replay(std::initializer_list<OwnRecord> lines, std::string_view method = "GET") {
    Arrival arrival;
    std::int64_t at = 1'000'000'000;
    for (const OwnRecord& own : lines) {
      fill(arrival,
           {.at = instant_from_us(at++),
            .client = IpAddress::parse("192.0.2.1"),
            .method = method,
            .target = "/both",
            .status = 200,
            .own = own},
           "localhost");
      run_.receive(arrival);
    }
    run_.finish();
    return run_.report(10);
  }

 private:
  static std::shared_ptr<const config::Config> load() {
    return config::load_text(
               own_limits,
               {.variable = [](const std::string&) { return std::nullopt; }, .directory = {}})
        .value();
  }
  std::shared_ptr<const config::Config> config_ = load();
  OwnLogConfiguration own_{config_->proxy, config_->limiter};
  Run run_{own_.proxy, own_.limits, {}, {}};
};

constexpr std::string_view key_a = "0000000000000000000000000000000a";
constexpr std::string_view key_b = "0000000000000000000000000000000b";

OwnRecord by_host(std::string_view key, std::int64_t remaining,
                  std::string_view decision = "allowed") {
  return {.route = "by-host",
          .decision = decision,
          .policy = "p",
          .identity = key,
          .identity_kind = "key",
          .cost = 1,
          .remaining = remaining};
}

}  // namespace

TEST_CASE("a route with conditions that the log lacks is found by its name, keys by their hashes") {
  const Report report = OwnLines().replay(
      {by_host(key_a, 1), by_host(key_b, 1), by_host(key_a, 0), by_host(key_a, 0, "denied")});
  CHECK((report.reproduction.compared == 4 && report.reproduction.different == 0));
  REQUIRE(report.routes.size() == 1);
  CHECK((report.routes[0].route == "by-host" && report.routes[0].use.denied == 1));
  REQUIRE(report.keys.size() == 1);
  CHECK(to_hex(report.keys[0].hash) == key_a);
}

TEST_CASE("the plan of the log counts") {
  OwnRecord own = by_host(key_a, 8);
  own.plan = "gold";
  const Report report = OwnLines().replay({own});
  CHECK(report.reproduction.different == 0);
}

TEST_CASE("units are those that were held and charged, of every limit") {
  const std::array others{OwnLimit{
      .policy = "q", .identity = key_b, .identity_kind = "user", .cost = 95, .reserved = 40}};
  OwnRecord first = by_host(key_a, 1);
  first.route = "both";
  first.upstream = "api";
  first.has_response = true;
  first.others = others;
  const OwnRecord denied{.route = "both",
                         .decision = "denied",
                         .policy = "q",
                         .identity = key_b,
                         .identity_kind = "user",
                         .cost = 6,
                         .remaining = 5};
  const Report report = OwnLines().replay({first, denied});
  for (const auto& one : report.reproduction.first)
    UNSCOPED_INFO(one.logged << "; " << one.replayed);
  CHECK((report.reproduction.compared == 2 && report.reproduction.different == 0));
}

TEST_CASE("a difference has both decisions and its line") {
  const Report report = OwnLines().replay({by_host(key_a, 7)});
  REQUIRE(report.reproduction.first.size() == 1);
  CHECK(report.reproduction.first[0].logged == "allowed by p, 7 left");
  CHECK(report.reproduction.first[0].replayed == "allowed by p, 1 left");
}

TEST_CASE("lines without a decision of Weir are not replayed, and preflights are not charged") {
  const Report settled = OwnLines().replay({{.route = "both", .decision = "settled"}, {}});
  CHECK((settled.reproduction.compared == 0 && settled.routes.empty()));
  const Report preflight = OwnLines().replay({{.route = "by-host"}}, "OPTIONS");
  CHECK((preflight.reproduction.compared == 1 && preflight.reproduction.different == 0));
}

}  // namespace weir::replay
