// Requests of a log under a configuration, on the log's time.
#include "replay/run.hpp"

#include <array>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::replay {
namespace {

constexpr auto limits = R"(
identities: {client: {client_address: {}}, key: {header: x-key}}
policies:
  slow: {algorithm: gcra, rate: 1/1m, burst: 2}
  watched: {algorithm: fixed_window, rate: 1/1h, mode: shadow}
  logins: {algorithm: sliding_log, rate: 1/1m}
  slots: {algorithm: concurrency, limit: 1}
  leaky: {algorithm: leaky_bucket, rate: 1/1s, queue: 1}
  line: {algorithm: concurrency, limit: 1, queue: 2, max_wait: 40ms}
routes:
  - match: {path: /slow}
    respond: {status: 200}
    limits: [{policy: slow, key: key, otherwise: client}, {policy: watched, key: client}]
  - match: {path: /keyed}
    respond: {status: 200}
    limits: [{policy: slow, key: key, required: true}]
  - match: {path: /login}
    respond: {status: 200}
    limits: [{policy: logins, key: client, charge: {status: [401]}}]
  - {match: {path: /slots}, respond: {status: 200}, limits: [{policy: slots, key: client}]}
  - {match: {path: /line}, respond: {status: 200}, limits: [{policy: line, key: client}]}
  - {match: {path: /leaky}, respond: {status: 200}, limits: [{policy: leaky, key: client}]}
)";

class Replayed {
 public:
  Replayed() : config_(load()), run_(config_->proxy, config_->limiter, {}, {}) {}

  Replayed& get(std::string_view path, std::int64_t ms, int status = 200,
                std::optional<std::int64_t> took_ms = {}) {
    LoggedRequest logged{.at = Instant{std::chrono::milliseconds(1'000'000 + ms)},
                         .client = IpAddress::parse("192.0.2.1"),
                         .method = "GET",
                         .target = path,
                         .status = status};
    if (took_ms) logged.duration = std::chrono::milliseconds(*took_ms);
    fill(arrival_, logged, "localhost");
    run_.receive(arrival_);
    return *this;
  }
  /// A line of Weir's own log about a request that ends at this instant, in ms.
  Replayed& line(std::int64_t ms, std::int64_t ends_ms, const OwnRecord& own) {
    LoggedRequest logged{.at = Instant{std::chrono::milliseconds(1'000'000 + ms)},
                         .client = IpAddress::parse("192.0.2.1"),
                         .method = "GET",
                         .target = "/line",
                         .status = 200,
                         .duration = std::chrono::milliseconds(ends_ms - ms),
                         .own = own};
    fill(arrival_, logged, "localhost");
    run_.receive(arrival_);
    return *this;
  }
  Replayed& call_service(std::int64_t ms) {
    LoggedRequest logged{.at = Instant{std::chrono::milliseconds(1'000'000 + ms)},
                         .method = "POST",
                         .target = "/json",
                         .status = 200};
    logged.own = OwnRecord{.decision = "allowed", .policy = "slow"};
    fill(arrival_, logged, "localhost");
    run_.receive(arrival_);
    return *this;
  }
  Report report() {
    run_.finish();
    return run_.report(10);
  }
  Run& run() { return run_; }

 private:
  static std::shared_ptr<const config::Config> load() {
    return config::load_text(
               std::string("listen: [{address: \"127.0.0.1:1\"}]") + limits,
               {.variable = [](const std::string&) { return std::nullopt; }, .directory = {}})
        .value();
  }

  std::shared_ptr<const config::Config> config_;
  Run run_;
  Arrival arrival_;
};

}  // namespace

TEST_CASE("requests are decided on the time of the log") {
  const Report report =
      Replayed().get("/slow", 0).get("/slow", 1).get("/slow", 2).get("/slow", 60'002).report();
  CHECK((report.outcomes.allowed == 3 && report.outcomes.denied == 1));
  CHECK(report.outcomes.shadow_denied == 2);
  CHECK(report.first_at == Instant{std::chrono::milliseconds(1'000'000)});
  CHECK(report.last_at == Instant{std::chrono::milliseconds(1'060'002)});
}

TEST_CASE("identities that the log does not have are counted as absent, once a request") {
  const Report report = Replayed().get("/slow", 0).get("/keyed", 1).report();
  REQUIRE(report.absent.size() == 1);
  CHECK((report.absent[0].identity == "key" && report.absent[0].requests == 2));
  CHECK((report.outcomes.allowed == 1 && report.outcomes.undecided == 1));
}

TEST_CASE("the status of the log determines what is charged") {
  const Report report = Replayed().get("/login", 0).get("/login", 1, 401).get("/login", 2).report();
  CHECK((report.outcomes.allowed == 2 && report.outcomes.denied == 1));
}

TEST_CASE("a request with a duration is in progress until its end") {
  const Report report = Replayed()
                            .get("/slots", 0, 200, 100)
                            .get("/slots", 99, 200, 0)
                            .get("/slots", 100, 200, 50)
                            .get("/slots", 160)
                            .get("/slots", 161)
                            .report();
  CHECK((report.outcomes.allowed == 4 && report.outcomes.denied == 1));
}

TEST_CASE("a request that waits for its turn is delayed") {
  const Report report = Replayed().get("/leaky", 0).get("/leaky", 1).get("/leaky", 2).report();
  CHECK((report.outcomes.allowed == 2 && report.outcomes.delayed == 1));
  CHECK(report.outcomes.denied == 1);
}

TEST_CASE("requests that waited for a slot in Weir's own log get the decisions of the log") {
  OwnRecord own{.route = "line", .decision = "allowed", .policy = "line", .remaining = 0};
  Replayed replayed;
  replayed.line(0, 50, own);
  own.decision = "delayed";
  const std::array<std::int64_t, 3> second{0, 100, 42'000};
  own.queue_us = second;
  replayed.line(10, 150, own);
  own.decision = "denied";
  const std::array<std::int64_t, 2> third{0, 43'000};
  own.queue_us = third;
  replayed.line(51, 94, own);
  own.aborted_by = "client";
  const std::array<std::int64_t, 2> fourth{0, 10'000};
  own.queue_us = fourth;
  replayed.line(60, 70, own);
  own.aborted_by = {};
  own.queue_us = third;
  replayed.line(71, 114, own);
  own.queue_us = {};
  replayed.line(93, 93, own);
  const Report report = replayed.report();
  for (const auto& first : report.reproduction.first)
    UNSCOPED_INFO(first.logged << "; " << first.replayed);
  CHECK((report.reproduction.compared == 6 && report.reproduction.different == 0));
  CHECK((report.outcomes.delayed == 1 && report.outcomes.denied == 4));
}

TEST_CASE("requests that no limit decides are counted apart") {
  Replayed replayed;
  replayed.get("/none", 0).get("/a b", 1).get("/%zz", 2);
  const Report report = replayed.report();
  CHECK(report.outcomes.unrouted + report.outcomes.malformed == 3);
  CHECK(report.outcomes.allowed == 0);
}

TEST_CASE("calls of the rate limit service are counted apart and not replayed") {
  const Report report = Replayed().call_service(0).get("/slow", 1).call_service(2).report();
  CHECK(report.outcomes.service_calls == 2);
  CHECK(report.outcomes.malformed == 0);
  CHECK(report.outcomes.allowed == 1);
  CHECK(report.reproduction.compared == 0);
}

TEST_CASE("a request that comes late is decided at the last instant") {
  const Report report =
      Replayed().get("/slow", 60'000).get("/slow", 0).get("/slow", 60'000).report();
  CHECK(report.late == 1);
  CHECK((report.outcomes.allowed == 2 && report.outcomes.denied == 1));
}

}  // namespace weir::replay
