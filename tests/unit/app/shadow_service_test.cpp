// The service without workers: nothing is compared, so a candidate whose period is over passes.
#include "app/shadow_service.hpp"

#include <cstddef>
#include <optional>
#include <pthread.h>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "unit/admin/test_process.hpp"
#include "unit/app/shadow_configurations.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;
using Method = admin::AdminCall::Method;
using Stage = admin::ShadowState::Stage;

/// No thread can be created, because its stack would not fit into the address space.
class NoThreads {
 public:
  NoThreads() {
    REQUIRE(::pthread_getattr_default_np(&usual_) == 0);
    pthread_attr_t huge;
    REQUIRE(::pthread_attr_init(&huge) == 0);
    REQUIRE(::pthread_attr_setstacksize(&huge, std::size_t{1} << 50U) == 0);
    CHECK(::pthread_setattr_default_np(&huge) == 0);
    ::pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    ::pthread_setattr_default_np(&usual_);
    ::pthread_attr_destroy(&usual_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t usual_{};
};

struct ShadowFixture {
  Instant begin(const std::string& rate, Duration period, bool has_threads = true) {
    const LoadedConfig candidate = shadow_config(rate);
    const auto running_config = shadow_config("3/1h").config;
    const auto certificates = running.check(*candidate.config);
    REQUIRE(certificates.has_value());
    std::optional<NoThreads> no_threads;
    if (!has_threads) no_threads.emplace();
    return service.begin("test", {.running = running_config, .loaded = candidate}, *certificates,
                         {.period = period, .max_flips = 5'000}, [] {});
  }
  Stage stage() const { return service.shown().state().stage; }
  nlohmann::json report() { return nlohmann::json::parse(call({}).body); }
  admin::AdminAnswer call(admin::AdminCall which) {
    std::optional<admin::AdminAnswer> answer;
    const auto endpoint = service.endpoint([this](const auto& terms, const auto& done) {
      asked.push_back(terms);
      done({.outcome = admin::ReloadReport::Outcome::in_shadow, .hash = "ab"});
    });
    const admin::TestProcess process;
    endpoint.handle(std::move(which), process.instruments(),
                    [&](admin::AdminAnswer made) { answer = std::move(made); });
    while (!answer)
      io.run_one();
    return *answer;
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  SharedState shared{1, 10};
  RunningConfiguration running{1'000};
  Workers workers{io, shared};
  std::vector<std::uint64_t> passed;
  std::vector<std::optional<ShadowTerms>> asked;
  ShadowService service{
      {.io = io, .clock = shared.clock, .workers = workers, .passed = [this](std::uint64_t number) {
         passed.push_back(number);
       }}};
};

}  // namespace

TEST_CASE("shadow service: a candidate that has passed is applied") {
  ShadowFixture fixture;
  CHECK(fixture.report() == nlohmann::json{{"state", "none"}});
  fixture.begin("1/1h", 0s);
  while (fixture.passed.empty())
    fixture.io.run_one();
  CHECK(fixture.passed == std::vector<std::uint64_t>{1});
  CHECK(fixture.stage() == Stage::shadow);  // until it is applied
  REQUIRE(fixture.service.candidate(1).has_value());
  CHECK_FALSE(fixture.service.candidate(2).has_value());
  fixture.service.note_applied("shadow reload", 1);
  CHECK(fixture.stage() == Stage::done);
  CHECK_FALSE(fixture.service.candidate(1).has_value());
  CHECK(fixture.service.shown().done.value() == 1);
  const auto report = fixture.report();
  CHECK(report["state"] == "done");
  CHECK(report["hash"] == shadow_config("1/1h").hash);
  CHECK(report["max_flips"] == "0.5%");
  CHECK(report["keys"].empty());
}

TEST_CASE("shadow service: a candidate is replaced by the next one and by other reloads") {
  ShadowFixture fixture;
  fixture.begin("1/1h", 1h);
  fixture.begin("2/1h", 1h);
  CHECK(fixture.service.shown().replaced.value() == 1);
  CHECK_FALSE(fixture.service.candidate(1).has_value());
  CHECK(fixture.service.candidate(2)->hash == shadow_config("2/1h").hash);
  CHECK(fixture.report()["state"] == "shadow");
  fixture.service.note_applied("SIGHUP", 0);
  CHECK(fixture.service.shown().replaced.value() == 2);
  CHECK(fixture.report()["reason"] == "replaced by another reload");
  fixture.service.note_applied("SIGHUP", 0);  // there is none
  CHECK(fixture.service.shown().replaced.value() == 2);
  CHECK(fixture.passed.empty());
}

TEST_CASE("shadow service: a comparison that cannot be started changes nothing") {
  ShadowFixture fixture;
  const auto fails = [&fixture] {
    CHECK_THROWS_AS(fixture.begin("2/1h", 1h, false), std::system_error);
  };
  fails();
  CHECK(fixture.stage() == Stage::none);
  fixture.begin("1/1h", 0s);
  fails();
  CHECK(fixture.report()["hash"] == shadow_config("1/1h").hash);
  CHECK(fixture.service.shown().replaced.value() == 0);
  while (fixture.passed.empty())
    fixture.io.run_one();
  CHECK(fixture.service.candidate(fixture.passed[0])->hash == shadow_config("1/1h").hash);
}

TEST_CASE("shadow service: a candidate that cannot be applied is dropped with the reason") {
  ShadowFixture fixture;
  fixture.begin("1/1h", 0s);
  while (fixture.passed.empty())
    fixture.io.run_one();
  fixture.service.note_rejected("the reload failed: why");
  CHECK(fixture.stage() == Stage::dropped);
  CHECK(fixture.report()["reason"] == "the reload failed: why");
  CHECK(fixture.service.shown().dropped.value() == 1);
  CHECK_FALSE(fixture.service.candidate(1).has_value());
}

TEST_CASE("shadow service: nothing is applied after the end") {
  ShadowFixture fixture;
  fixture.begin("1/1h", 0s);
  fixture.service.stop();
  fixture.io.poll();  // the judgement may have been on its way
  CHECK(fixture.passed.empty());
  CHECK_FALSE(fixture.service.candidate(1).has_value());
}

TEST_CASE("shadow service: POST reads the terms, or states which parameter is wrong") {
  ShadowFixture fixture;
  CHECK(fixture.call({.method = Method::post, .query = "shadow=1m&max_flips=1%25"}).status == 202);
  REQUIRE(fixture.asked.size() == 1);
  REQUIRE(fixture.asked[0].has_value());
  CHECK((fixture.asked[0]->period == 1min && fixture.asked[0]->max_flips == 10'000));
  CHECK(fixture.call({.method = Method::post}).status == 202);
  CHECK_FALSE(fixture.asked.at(1).has_value());
  CHECK(fixture.call({.method = Method::post, .query = "shadow=1"}).status == 400);
  CHECK(fixture.asked.size() == 2);
}

}  // namespace weir::app
