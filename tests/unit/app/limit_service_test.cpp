// The service before the memory store, and before a shared store whose reports the test chooses.
#include "app/limit_service.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/source.hpp"
#include "catch.hpp"
#include "store/denial_confirmation.hpp"
#include "unit/app/no_event_marks.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;
using admin::AdminAnswer;
using admin::AdminCall;
using SteadyClock = std::chrono::steady_clock;

const std::string limit_service_yaml = R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
access_log: off
workers: 1
identities: {api_key: {header: X-Api-Key}}
policies:
  rate: {algorithm: fixed_window, rate: 10/1h}
  other: {rate: 1/1s}
  unused: {rate: 1/1s}
  watched: {algorithm: attributed_window, rate: 10/1h, attributes: [method, "header:user-agent"]}
plans: {gold: {rate: {rate: 30/1h}}, internal: {rate: unlimited}}
default_plan: gold
routes:
  - respond: {status: 200}
    limits:
      - {policy: rate, key: api_key}
      - {policy: other, key: api_key}
      - {policy: watched, key: api_key}
)";
const AdminCall look_at{.query = "policy=rate&key=abc"};
const AdminCall reset_it{.method = AdminCall::Method::remove, .query = "policy=rate&key=abc"};

/// Completes each call when the test asks for it.
struct LateStore final : store::Store {
  std::optional<store::Result> acquire(store::Acquisition&, store::Completion&, Instant) override {
    FAIL("a look charged something");
    return std::nullopt;
  }
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& its,
                                    Instant) override {
    CHECK(acquisition.shows_held);
    acquisition.decisions[0] = {
        .limit = 10, .remaining = 0, .more_after = 1'500ms, .held_by_others = 4};
    completion = &its;
    return std::nullopt;
  }
  std::optional<store::Result> forget(const store::Key&, store::Completion& its, Instant) override {
    completion = &its;
    return std::nullopt;
  }
  void settle(std::span<const store::Settlement>, Instant) override {}

  store::Completion* completion = nullptr;
};

struct EndOfDenials final : store::Overrides {
  void put(const Hash128&, const store::Override&, Instant, Done) override {}
  void remove(const Hash128&, const std::string&, Instant, Done) override {}
  void list(const std::optional<Hash128>&, Instant, std::stop_token, Done) override {}
  void end_denials(Done its) override { done = std::move(its); }

  Done done;
};

struct LateEntries final : store::EntryReader {
  void read_entries(const Hash128&, const std::string& policy, Done its) override {
    CHECK(policy == "watched");
    done = std::move(its);
  }

  Done done;
};

struct LimitFixture {
  explicit LimitFixture(bool is_shared)
      : service(
            {.io = io,
             .clock = clock,
             .running = running,
             .memory = memory,
             .with_shared = [this, is_shared](auto task) { task(is_shared ? &access : nullptr); },
             .events = events,
             .longest_wait = 1h}) {
    const auto loaded = text_source("test", limit_service_yaml).load(1s, nullptr);
    REQUIRE(loaded.has_value());
    auto prepared = running.prepare(*loaded);
    REQUIRE(prepared.has_value());
    running.commit(std::move(*prepared));
  }
  void call(const AdminCall& which) {
    service.handle(which, [this](AdminAnswer answer) { answers.push_back(std::move(answer)); });
    poll();
  }
  void poll() {
    io.restart();
    io.poll();
  }
  void complete(store::Error error = store::Error::none) {
    REQUIRE(late.completion != nullptr);
    std::exchange(late.completion, nullptr)->complete({.admitted = true, .error = error}, {});
    poll();
  }
  AdminAnswer only() {
    REQUIRE(answers.size() == 1);
    return std::exchange(answers, {}).front();
  }

  boost::asio::io_context io;
  MonotonicClock clock;
  RunningConfiguration running{1'000};
  store::MemoryStore memory{{.max_keys = 10, .seed = 1}};
  LateStore late;
  EndOfDenials denials;
  LateEntries entries;
  NoEventMarks marks;
  limiter::QuotaEvents events{1};
  SharedAccess access{
      .overrides = denials, .decisions = late, .entries = entries, .event_marks = marks};
  std::vector<AdminAnswer> answers;
  LimitService service;
};

}  // namespace

TEST_CASE("The state of a key in the memory store is shown and not charged") {
  LimitFixture fixture(false);
  for (int i = 0; i < 3; ++i) {
    fixture.call(look_at);
    const AdminAnswer answer = fixture.only();
    CHECK(answer.status == 200);
    const auto body = nlohmann::json::parse(answer.body);
    CHECK(body["store"] == "memory");
    CHECK(body["identity"] == "api_key");
    CHECK(body["policy"] == "rate");
    CHECK(body["algorithm"] == "fixed_window");
    CHECK(body["plan"] == "gold");  // the default
    CHECK(body["numbers"] == nlohmann::json({{"limit", 30}, {"window", 3600}, {"from", "plan"}}));
    CHECK(body["remaining"] == 30);
    CHECK(body["held"] == 0);
    CHECK_FALSE(body.contains("entries"));
    CHECK(body["retry_after"] == nullptr);
  }
  fixture.call(reset_it);
  CHECK(fixture.only().status == 204);
}

TEST_CASE("A plan that is named replaces the numbers of the policy") {
  LimitFixture fixture(false);
  fixture.call({.query = "policy=rate&key=abc&plan=gold"});
  const auto gold = nlohmann::json::parse(fixture.only().body);
  CHECK(gold["numbers"] == nlohmann::json({{"limit", 30}, {"window", 3600}, {"from", "plan"}}));
  CHECK(gold["remaining"] == 30);
  fixture.call({.query = "policy=rate&key=abc&plan=internal"});
  const auto internal = nlohmann::json::parse(fixture.only().body);
  CHECK(internal["numbers"] == nlohmann::json({{"unlimited", true}, {"from", "plan"}}));
  fixture.call({.query = "policy=other&key=abc&plan=gold"});  // the plan does not change it
  CHECK(nlohmann::json::parse(fixture.only().body)["numbers"]["from"] == "policy");
}

TEST_CASE("The entries of an attributed window are shown with the names of their attributes") {
  const AdminCall look{.query = "policy=watched&key=abc"};
  const auto entries = nlohmann::json::parse(
      R"([{"at":1700000010.5,"units":2,"attributes":{"method":"GET","header:user-agent":"curl"}}])");
  SECTION("of Redis") {
    LimitFixture fixture(true);
    fixture.call(look);
    fixture.complete();
    REQUIRE(fixture.entries.done);
    CHECK(fixture.answers.empty());
    fixture.entries.done({.entries = {{.at = instant_from_us(1'700'000'010'500'000),
                                       .units = 2,
                                       .attributes = {"GET", "curl"}}},
                          .is_complete = false});
    fixture.poll();
    const auto body = nlohmann::json::parse(fixture.only().body);
    CHECK(body["held"] == 4);
    CHECK(body["entries"] == entries);
    CHECK(body["entries_complete"] == false);
  }
  SECTION("of a Redis that is lost in between") {
    LimitFixture fixture(true);
    fixture.call(look);
    fixture.complete();
    fixture.entries.done({.error = store::Error::connection_lost});
    fixture.poll();
    CHECK(fixture.only().status == 503);
  }
  SECTION("of memory") {
    LimitFixture fixture(false);
    fixture.call(look);
    const auto body = nlohmann::json::parse(fixture.only().body);
    CHECK(body["entries"] == nlohmann::json::array());
    CHECK(body["entries_complete"] == true);
  }
}

TEST_CASE("A query that is wrong is answered with what to write") {
  LimitFixture fixture(false);
  const auto [query, detail] = GENERATE(table<std::string, std::string>({
      {"",
       "policy is missing: name one of the policies that limits of routes have: rate, other, "
       "watched"},
      {"policy=rate&key=a&plan=gald", "did you mean \\\"gold\\\"?"},
      {"policy=rate", "key is missing"},
      {"policy=unused&key=a", "no limit of a route has the policy unused"},
      {"policy=rat&key=a", "did you mean"},
      {"policy=rate&key=a&identity=none", "no identity has the name"},
      {"policy=rate&key=a&rate=1", "unknown parameter"},
      {"policy=rate&key=hash:12", "32 hexadecimal digits"},
  }));
  CAPTURE(query);
  fixture.call({.query = query});
  const AdminAnswer answer = fixture.only();
  CHECK(answer.status == 422);
  CHECK(answer.body.find(detail) != std::string::npos);
}

TEST_CASE("The shared store answers a look later, or with the reason why it cannot") {
  LimitFixture fixture(true);
  fixture.call(look_at);
  CHECK(fixture.answers.empty());
  SECTION("a decision") {
    fixture.complete();
    const auto body = nlohmann::json::parse(fixture.only().body);
    CHECK(body["store"] == "redis");
    CHECK(body["remaining"] == 0);
    CHECK(body["retry_after"] == 1.5);
  }
  SECTION("an error") {
    fixture.complete(store::Error::not_connected);
    const AdminAnswer answer = fixture.only();
    CHECK(answer.status == 503);
    CHECK(answer.body.find("redis is not reachable") != std::string::npos);
    CHECK(answer.body.find("may have been made") == std::string::npos);
  }
  SECTION("the end of the process, and then the store") {
    fixture.service.stop();
    CHECK(fixture.only().status == 503);
    fixture.complete();
    CHECK(fixture.answers.empty());
    fixture.call(look_at);
    CHECK(fixture.only().status == 503);
  }
}

TEST_CASE("A reset is answered once no instance remembers a denial from before") {
  LimitFixture fixture(true);
  const auto begin = SteadyClock::now();
  fixture.call(reset_it);
  SECTION("the key cannot be removed") {
    fixture.complete(store::Error::timeout);
    const AdminAnswer answer = fixture.only();
    CHECK(answer.status == 503);
    CHECK(answer.body.find("the reset may have been made") != std::string::npos);
    return;
  }
  SECTION("the question was not sent") {
    fixture.complete(GENERATE(store::Error::not_connected, store::Error::overloaded));
    const AdminAnswer answer = fixture.only();
    CHECK(answer.status == 503);
    CHECK(answer.body.find("nothing was changed") != std::string::npos);
    CHECK(answer.body.find("may have been made") == std::string::npos);
    return;
  }
  fixture.complete();
  REQUIRE(fixture.denials.done);
  CHECK(fixture.answers.empty());
  SECTION("the change cannot be announced") {
    fixture.denials.done({.outcome = store::OverrideReport::Outcome::failed,
                          .error = store::Error::connection_lost});
    fixture.poll();
    CHECK(fixture.only().status == 503);
    return;
  }
  fixture.denials.done({});
  fixture.poll();
  CHECK(fixture.answers.empty());
  fixture.io.restart();
  while (fixture.answers.empty())
    REQUIRE(fixture.io.run_one() == 1);
  CHECK(fixture.only().status == 204);
  CHECK(SteadyClock::now() - begin >= store::DenialConfirmation::settled_after);
}

}  // namespace weir::app
