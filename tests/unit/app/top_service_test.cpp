// The service before workers whose answers the test chooses.
#include "app/top_service.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "app/source.hpp"
#include "catch.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

const std::string top_service_yaml = R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
access_log: off
workers: 1
identities: {api_key: {header: X-Api-Key}}
policies: {rate: {rate: 10/1h}}
routes: [{name: all, respond: {status: 200}, limits: [{policy: rate, key: api_key}]}]
)";

struct TopFixture {
  explicit TopFixture(std::chrono::milliseconds longest_wait = 1h)
      : service({.io = io,
                 .clock = clock,
                 .running = running,
                 .read_workers = [this](auto done) { waiting.push_back(std::move(done)); },
                 .longest_wait = longest_wait}) {
    const auto loaded = text_source("test", top_service_yaml).load(1s, nullptr);
    REQUIRE(loaded.has_value());
    auto prepared = running.prepare(*loaded);
    REQUIRE(prepared.has_value());
    running.commit(std::move(*prepared));
  }
  void call(const std::string& query) {
    service.handle({.query = query},
                   [this](admin::AdminAnswer answer) { answers.push_back(std::move(answer)); });
  }

  boost::asio::io_context io;
  MonotonicClock clock;
  RunningConfiguration running{1'000};
  std::vector<std::function<void(std::vector<limiter::TopCounts>)>> waiting;
  std::vector<admin::AdminAnswer> answers;
  TopService service;
};

}  // namespace

TEST_CASE("the list of the workers is the answer") {
  TopFixture fixture;
  fixture.call("by=requests&n=5");
  REQUIRE(fixture.waiting.size() == 1);
  CHECK(fixture.answers.empty());
  limiter::TopKeys worker(1);
  const Instant now = fixture.clock.now();
  const auto& identities = fixture.running.identity_names();
  const auto api_key = std::ranges::find(identities, "api_key") - identities.begin();
  worker.count({.identity = {.low = 1, .high = 2}, .policy_id = 0, .route_id = 0}, {},
               {.client = {}, .identity_id = static_cast<std::uint32_t>(api_key)}, now);
  fixture.waiting[0]({worker.read(now)});
  REQUIRE(fixture.answers.size() == 1);
  CHECK(fixture.answers[0].status == 200);
  CHECK(fixture.answers[0].content_type == "application/json");
  const auto body = nlohmann::json::parse(fixture.answers[0].body);
  CHECK(body["keys"][0]["policy"] == "rate");
  CHECK(body["keys"][0]["route"] == "all");
  CHECK(body["keys"][0]["identity"] == "api_key");
}

TEST_CASE("a wrong query is answered 422, without asking the workers") {
  TopFixture fixture;
  fixture.call("by=hits");
  CHECK(fixture.waiting.empty());
  REQUIRE(fixture.answers.size() == 1);
  CHECK(fixture.answers[0].status == 422);
  CHECK(fixture.answers[0].content_type == "application/problem+json");
}

TEST_CASE("workers that do not answer are 503, and their late answer is dropped") {
  TopFixture fixture(1ms);
  fixture.call("");
  fixture.io.run();
  REQUIRE(fixture.answers.size() == 1);
  CHECK(fixture.answers[0].status == 503);
  fixture.waiting[0]({});
  CHECK(fixture.answers.size() == 1);
}

TEST_CASE("a service that has stopped answers all calls") {
  TopFixture fixture;
  fixture.call("");
  fixture.service.stop();
  fixture.call("");
  REQUIRE(fixture.answers.size() == 2);
  CHECK(fixture.answers[0].status == 503);
  CHECK(fixture.answers[1].status == 503);
}

}  // namespace weir::app
