// A run on its own thread, over copies that are filled before it starts. Its period is over at its
// first step, or never.
#include "app/shadow_run.hpp"

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "catch.hpp"
#include "decision/head_inspection.hpp"
#include "decision/request_rules.hpp"
#include "unit/app/shadow_configurations.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;
using offline::Judgement;
using Stage = admin::ShadowState::Stage;

struct RunFixture {
  RunFixture() {
    for (std::uint64_t worker = 0; worker < 2; ++worker)
      copies.push_back(std::make_shared<decision::TrafficCopy>(1'000 * worker + 1));
  }
  /// A request of the same client, which has ended.
  void request(std::size_t worker) {
    http::ReceivedRequest received;
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const decision::RequestRules rules{running.config->proxy, running.config->limiter};
    REQUIRE_FALSE(decision::inspect_head(rules, head, received));
    received.peer = IpAddress::v4({192, 0, 2, 7});
    const std::uint64_t number = copies[worker]->add({.at = clock.now(), .request = received});
    copies[worker]->add({.number = number, .at = clock.now(), .how = {.status = 200}});
  }
  std::unique_ptr<ShadowRun> run(Duration period, std::int64_t max_flips) {
    auto run = waiting(period, max_flips);
    run->begin();
    return run;
  }
  /// A run that has not begun.
  std::unique_ptr<ShadowRun> waiting(Duration period, std::int64_t max_flips) {
    judged = {};
    return std::make_unique<ShadowRun>(
        ShadowRun::Dependencies{.clock = clock,
                                .shown = shown,
                                .judged =
                                    [this](Judgement judgement, std::string problem) {
                                      judged.set_value({judgement, std::move(problem)});
                                    }},
        ShadowRun::Candidate{.running = running.config, .loaded = candidate},
        offline::ReloadGuard{.begun_at = clock.now(), .shadow = period, .max_flips = max_flips},
        copies, 1);
  }
  std::pair<Judgement, std::string> result() { return judged.get_future().get(); }

  MonotonicClock clock;
  LoadedConfig running = shadow_config("3/1h");
  LoadedConfig candidate = shadow_config("1/1h");
  admin::ShadowReload shown;
  TrafficCopies copies;
  std::promise<std::pair<Judgement, std::string>> judged;
};

}  // namespace

TEST_CASE("shadow run: the requests of all workers are compared in one place") {
  RunFixture fixture;
  for (const std::size_t worker : {0, 1, 0, 1})
    fixture.request(worker);
  const auto run = fixture.run(0s, 100'000);
  CHECK(fixture.result() == std::pair(Judgement::failed, std::string()));
  const admin::ShadowState state = fixture.shown.state();
  CHECK(state.stage == Stage::shadow);
  CHECK(state.hash == fixture.candidate.hash);
  CHECK(state.max_flips == 100'000);
  CHECK(state.decisions == 4);
  CHECK(state.flips == 2);  // the fourth is denied by both
  CHECK(state.skipped == 0);
  const auto keys = run->top_keys(10);
  REQUIRE(keys.size() == 1);
  CHECK((keys[0].flips == 2 && keys[0].is_denied));
  CHECK((keys[0].policy == "per_client" && keys[0].identity == "client"));
}

TEST_CASE("shadow run: few enough flips have passed, and so has a period without requests") {
  RunFixture fixture;
  fixture.request(0);
  fixture.request(0);
  {
    const auto run = fixture.run(0s, 500'000);
    CHECK(fixture.result().first == Judgement::passed);
  }
  const auto run = fixture.run(0s, 0);
  CHECK(fixture.result().first == Judgement::passed);
  CHECK(fixture.shown.state().decisions == 0);
  // The totals are of both runs.
  CHECK(fixture.shown.decisions.value() == 2);
  CHECK(fixture.shown.flips.value() == 1);
}

TEST_CASE("shadow run: requests that a worker could not copy are counted") {
  RunFixture fixture;
  std::size_t copied = 0;
  http::ReceivedRequest received;
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const decision::RequestRules rules{fixture.running.config->proxy,
                                     fixture.running.config->limiter};
  REQUIRE_FALSE(decision::inspect_head(rules, head, received));
  const std::string body(100'000, 'x');
  received.peer = IpAddress::v4({192, 0, 2, 7});
  while (fixture.copies[0]->add({.at = fixture.clock.now(), .request = received, .body = body}) !=
         0)
    ++copied;
  const auto run = fixture.run(0s, 1'000'000);
  CHECK(fixture.result().first == Judgement::passed);
  CHECK(fixture.shown.state().decisions == copied);
  CHECK(fixture.shown.state().skipped == 1);
  CHECK(fixture.shown.skipped.value() == 1);
}

TEST_CASE("shadow run: a candidate does not pass if most requests were not compared") {
  RunFixture fixture;
  fixture.request(0);
  fixture.copies[0]->skip();
  fixture.copies[1]->skip();
  const auto run = fixture.run(0s, 1'000'000);
  CHECK(fixture.result().first == Judgement::not_compared);
}

TEST_CASE("shadow run: a run that is destroyed is not judged") {
  RunFixture fixture;
  fixture.request(0);
  fixture.run(1h, 0).reset();
  CHECK(fixture.judged.get_future().wait_for(0s) == std::future_status::timeout);
}

TEST_CASE("shadow run: a run that has not begun shows nothing and is not judged") {
  RunFixture fixture;
  fixture.request(0);
  const auto run = fixture.waiting(0s, 0);
  CHECK(fixture.shown.state().stage == Stage::none);
  run->begin();
  CHECK(fixture.result().first == Judgement::passed);
  fixture.waiting(0s, 0).reset();
  CHECK(fixture.judged.get_future().wait_for(0s) == std::future_status::timeout);
}

TEST_CASE("shadow run: content that is no longer used is dropped after a step") {
  RunFixture fixture;
  const auto run = fixture.run(1h, 0);
  std::promise<std::thread::id> dropped;
  run->drop_unread(std::shared_ptr<const int>(new int(1), [&](const int* content) {
    delete content;
    dropped.set_value(std::this_thread::get_id());
  }));
  CHECK(dropped.get_future().get() != std::this_thread::get_id());
}

}  // namespace weir::app
