// An instance in the time of the test: decisions, requests in progress, waits, settlements.
#include "offline/instance.hpp"

#include "unit/http/allocations.hpp"
#include "unit/offline/site.hpp"

namespace weir::offline::test {
namespace {

using limiter::Outcome;
using Kind = Instance::Event::Kind;
using State = Request::State;

/// A route /NAME for each algorithm: 2 requests in 10 s.
constexpr auto every_algorithm = R"(
policies:
  fixed: {algorithm: fixed_window, rate: 2/10s}
  attributed: {algorithm: attributed_window, rate: 2/10s, attributes: [method]}
  sliding: {algorithm: sliding_window, rate: 2/10s}
  log: {algorithm: sliding_log, rate: 2/10s}
  bucket: {algorithm: token_bucket, rate: 2/10s}
  gcra: {algorithm: gcra, rate: 2/10s}
  leaky: {algorithm: leaky_bucket, rate: 2/10s, queue: 1}
  slots: {algorithm: concurrency, limit: 2}
routes:
  - {match: {path: /fixed}, respond: {status: 200}, limits: [{policy: fixed}]}
  - {match: {path: /attributed}, respond: {status: 200}, limits: [{policy: attributed}]}
  - {match: {path: /sliding}, respond: {status: 200}, limits: [{policy: sliding}]}
  - {match: {path: /log}, respond: {status: 200}, limits: [{policy: log}]}
  - {match: {path: /bucket}, respond: {status: 200}, limits: [{policy: bucket}]}
  - {match: {path: /gcra}, respond: {status: 200}, limits: [{policy: gcra}]}
  - {match: {path: /leaky}, respond: {status: 200}, limits: [{policy: leaky}]}
  - {match: {path: /slots}, respond: {status: 200}, limits: [{policy: slots}]}
)";

constexpr auto slots = R"(
policies: {slots: {algorithm: concurrency, limit: 1, queue: 2, max_wait: 5s}}
routes: [{respond: {status: 200}, limits: [{policy: slots}]}]
)";

constexpr auto charged_later = R"(
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
identities: {user: {header: x-user}}
policies:
  logins: {algorithm: sliding_log, rate: 2/1m}
  tokens: {algorithm: token_bucket, rate: 100/1m}
routes:
  - match: {path: /login}
    respond: {status: 200}
    limits: [{policy: logins, charge: {status: [401]}}]
  - match: {path: /chat}
    upstream: api
    limits:
      - policy: tokens
        reserve: {json: /max_tokens, default: 10}
        cost_from: [{json: /usage/total}]
)";

}  // namespace

TEST_CASE("Every algorithm decides in the time of the caller") {
  struct Row {
    const char* path;
    std::vector<Duration> at;  // of requests that end at once
    std::vector<bool> admitted;
  };
  const Row rows[] = {
      // The window begins with the first request.
      {"/fixed", {0s, 9s, 9s, 10s}, {true, true, false, true}},
      {"/attributed", {0s, 9s, 9s, 10s}, {true, true, false, true}},
      // The oldest sub-window counts in part until it is 10 s old.
      {"/sliding", {0s, 0s, 9s, 11s}, {true, true, false, true}},
      // An entry of exactly 10 s is out.
      {"/log", {0s, 5s, 9s, 10s}, {true, true, false, true}},
      // One unit every 5 s.
      {"/bucket", {0s, 0s, 4s, 5s, 5s}, {true, true, false, true, false}},
      {"/gcra", {0s, 0s, 4s, 5s, 5s}, {true, true, false, true, false}},
      // One waits 5 s for its turn, the next is denied.
      {"/leaky", {0s, 0s, 0s, 5s}, {true, true, false, true}},
      // Requests that have ended hold nothing.
      {"/slots", {0s, 0s, 0s}, {true, true, true}},
  };
  for (const auto& [path, at, admitted] : rows) {
    Site site(every_algorithm);
    for (std::size_t i = 0; i < at.size(); ++i) {
      CAPTURE(path, i);
      CHECK((site.pass(path, at[i]) == Outcome::allowed) == admitted[i]);
    }
  }
}

TEST_CASE("Requests in progress hold their slots until they end") {
  Site site(every_algorithm);
  Request& first = site.receive("/slots");
  Request& second = site.receive("/slots");
  CHECK(site.pass("/slots", 1s) == Outcome::denied);
  CHECK(site.instance->in_progress() == 2);
  site.end(first, 2s);
  CHECK(site.pass("/slots", 2s) == Outcome::allowed);
  site.end(second, 2s);
  CHECK(site.instance->in_progress() == 0);
  CHECK(site.instance->store().holds() == 0);
}

TEST_CASE("Requests wait for a slot in their order, and get it when another ends") {
  Site site(slots);
  Request& first = site.receive("/");
  Request& second = site.receive("/", 1s);
  Request& third = site.receive("/", 1s);
  CHECK(site.receive("/", 1s).state() == State::decided);  // the line is full
  CHECK(second.state() == State::waiting);
  site.instance->end_at(first, start + 3s);
  CHECK_FALSE(site.instance->next(start + 3s - 1us));

  auto event = site.instance->next(start + 10s);
  REQUIRE(event);
  CHECK((event->kind == Kind::ends && event->request == &first && event->at == start + 3s));
  site.end(first, 3s);
  event = site.instance->next(start + 3s);
  REQUIRE(event);
  CHECK((event->kind == Kind::decided && event->request == &second && event->at == start + 3s));
  CHECK(second.is_admitted());
  CHECK(second.decided_at() == start + 3s);

  // The third one waits for at most 5 s.
  event = site.instance->next(start + 10s);
  REQUIRE(event);
  CHECK((event->request == &third && event->at == start + 6s));
  CHECK(third.verdict().outcome == Outcome::denied);
  CHECK_FALSE(site.instance->next(start + 1h));
}

TEST_CASE("A request ends before others of the same instant ask for its slot") {
  Site site(slots);
  site.instance->end_at(site.receive("/"), start + 5s);
  Request& waiting = site.receive("/");
  const auto ends = site.instance->next(start + 5s);
  REQUIRE(ends);
  REQUIRE(ends->kind == Kind::ends);
  site.end(*ends->request, 5s);
  const auto decided = site.instance->next(start + 5s);
  REQUIRE(decided);
  CHECK(decided->request == &waiting);
  CHECK(waiting.is_admitted());
}

namespace {

/// Receives a request with these steps, in microseconds after the start, of which the first is its
/// arrival.
Request& receive_stepping(Site& site, std::initializer_list<std::int64_t> us) {
  std::vector<Instant> steps;
  for (const std::int64_t step : us)
    steps.push_back(start + Duration{step});
  return site.instance->receive({.head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                                 .peer = IpAddress::v4({192, 0, 2, 1}),
                                 .steps = std::span(steps).subspan(1),
                                 .latest_step = 100ms},
                                steps.front());
}

}  // namespace

TEST_CASE("A request that waits asks when the caller has seen it ask") {
  Site site(slots);
  Request& first = site.receive("/");
  Request& second = receive_stepping(site, {1'000'000, 1'000'050, 3'004'000});
  site.end(first, 3s);
  CHECK_FALSE(site.instance->next(start + 3s));
  // Its slot is not taken by one that comes in the meantime.
  Request& third = receive_stepping(site, {3'001'000, 8'001'700});
  CHECK(third.state() == State::waiting);
  auto event = site.instance->next(start + 1h);
  REQUIRE(event);
  CHECK((event->request == &second && event->at == start + 3s + 4ms));
  CHECK(second.is_admitted());
  // It gives up late, too.
  event = site.instance->next(start + 1h);
  REQUIRE(event);
  CHECK((event->request == &third && event->at == start + 8'001'700us));
  CHECK(third.verdict().outcome == Outcome::denied);
}

TEST_CASE("A step that is too far away does not count") {
  Site site(slots);
  Request& first = site.receive("/");
  Request& second = receive_stepping(site, {1'000'000, 3'100'001});
  site.end(first, 3s);
  const auto event = site.instance->next(start + 1h);
  REQUIRE(event);
  CHECK((event->request == &second && event->at == start + 3s));
}

TEST_CASE("A request asks before others of the instant at which the caller has seen it ask end") {
  Site site(slots);
  Request& first = site.receive("/");
  site.instance->end_at(first, start + 50ms);
  Request& second = receive_stepping(site, {0, 50'000, 50'010});
  const auto ends = site.instance->next(start + 1h);
  REQUIRE(ends);
  CHECK((ends->kind == Kind::ends && ends->at == start + 50ms));
  site.end(first, 50ms);
  const auto event = site.instance->next(start + 1h);
  REQUIRE(event);
  CHECK((event->request == &second && event->at == start + 50'010us));
  CHECK(second.is_admitted());
}

TEST_CASE("A request that gives up leaves its place to the next one") {
  Site site(slots);
  Request& first = site.receive("/");
  Request& second = site.receive("/", 1s);
  Request& third = site.receive("/", 1s);
  site.instance->end_at(second, start + 2s);
  const auto leaves = site.instance->next(start + 2s);
  REQUIRE(leaves);
  CHECK((leaves->kind == Kind::ends && leaves->request == &second));
  REQUIRE(second.state() == State::waiting);
  site.instance->give_up(second, leaves->at);
  CHECK(second.verdict().outcome == Outcome::denied);
  site.instance->end(second, {.how = {.client_has_left = true}}, leaves->at);
  site.end(first, 3s);
  const auto decided = site.instance->next(start + 3s);
  REQUIRE(decided);
  CHECK(decided->request == &third);
  CHECK(third.is_admitted());
}

TEST_CASE("A later end replaces the earlier one, and an ended request has no events") {
  Site site(slots);
  Request& first = site.receive("/");
  site.instance->end_at(first, start + 1s);
  site.instance->end_at(first, start + 2s);
  const auto event = site.instance->next(start + 1h);
  REQUIRE(event);
  CHECK(event->at == start + 2s);
  site.instance->end_at(first, start + 3s);
  site.end(first, 2s);
  CHECK_FALSE(site.instance->next(start + 1h));
}

TEST_CASE("An instance with requests in progress and in line can end") {
  Site site(slots);
  site.receive("/");
  site.receive("/");
  site.receive("/");
  CHECK(site.instance->in_progress() == 3);
}

TEST_CASE("What the response states is charged when the request ends") {
  Site site(charged_later);
  SECTION("by status") {
    for (const int status : {200, 401, 200, 401})
      CHECK(site.pass("/login", 0s, status) == Outcome::allowed);
    CHECK(site.pass("/login", 1s) == Outcome::denied);
  }
  SECTION("by its body") {
    Request& request = site.receive("/chat", 0s, 1, {}, R"({"max_tokens": 60})");
    CHECK(request.decision().evaluation().claims[0].demand.cost == 60);
    CHECK(site.pass("/chat", 0s) == Outcome::allowed);  // 10, no usage: the reserve is charged
    site.end(request, 1s, 200, R"({"usage": {"total": 25}})");
    CHECK(request.decision().evaluation().held.settlements[0].actual == 25);
    const Request& next = site.receive("/chat", 1s, 1, {}, R"({"max_tokens": 1})");
    CHECK(next.verdict().limits[0].decision.remaining == 100 - 10 - 25 - 1 + 1);
  }
  SECTION("nothing without a response, the reserve if the client has left") {
    for (const bool client_has_left : {false, true}) {
      Request& request = site.receive("/chat", 0s, client_has_left ? 1 : 2);
      site.instance->end(request, {.how = {.client_has_left = client_has_left}}, start);
      CHECK(request.decision().evaluation().held.settlements[0].actual ==
            (client_has_left ? 10 : 0));
    }
  }
  SECTION("a body that was cut off") {
    Request& request = site.receive("/chat");
    const http::FieldView json{.name = "content-type", .value = "application/json"};
    site.instance->end(request,
                       {.how = {.status = 200},
                        .fields = {&json, 1},
                        .body = R"({"usage": {"total": 5)",
                        .is_whole = false},
                       start);
    CHECK(request.decision().evaluation().held.settlements[0].actual == 10);
  }
}

TEST_CASE("The report of another proxy names no hold of an offline instance") {
  Site site(
      "routes: [{decide: true, limits: [{policy: p}]}]\n"
      "policies: {p: {algorithm: concurrency, limit: 1}}\n"
      "client_address: {trusted_proxies: [192.0.2.0/24]}");
  Request& report = site.receive("/", 0s, 1,
                                 "Weir-Hold: 00000000000000000000000000000001\r\n"
                                 "Weir-Status: 200\r\n");
  REQUIRE(report.refusal());
  CHECK(report.refusal()->status == 404);
  Request& malformed = site.receive("/", 0s, 1, "Weir-Hold: x\r\nWeir-Status: 200\r\n");
  REQUIRE(malformed.refusal());
  CHECK(malformed.refusal()->status == 400);
}

TEST_CASE("A trace shows how the limits came to apply") {
  Site site(every_algorithm);
  limiter::Trace trace;
  const std::string head = "GET /gcra HTTP/1.1\r\nHost: a\r\n\r\n";
  site.instance->receive({.head = head, .peer = IpAddress::v4({192, 0, 2, 1})}, start, &trace);
  REQUIRE(trace.limits.size() == 1);
  CHECK(trace.limits[0].fate == limiter::Fate::claimed);
}

TEST_CASE("A request allocates nothing in the steady state") {
  Site site(charged_later);
  std::size_t denied = 0;
  const auto run = [&] {
    for (int i = 0; i < 100; ++i) {
      Request& request = site.instance->receive(
          {.head = site.head, .peer = IpAddress::v4({192, 0, 2, 1})}, start + i * 1ms);
      site.instance->end_at(request, start + i * 1ms);
      site.instance->next(start + i * 1ms);
      denied += request.verdict().outcome == Outcome::denied ? 1U : 0U;
      site.instance->end(request, {.how = {.status = 200}}, start + i * 1ms);
    }
  };
  site.head = "POST /chat HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nX-User: somebody\r\n\r\n";
  run();
  denied = 0;
  CHECK(allocations_in(run) == 0);
  CHECK(denied > 0);
}

}  // namespace weir::offline::test
