// The service before a store whose reports the test chooses, and before the memory store's own.
#include "app/override_service.hpp"

#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "store/denial_confirmation.hpp"
#include "unit/admin/test_process.hpp"
#include "unit/app/no_event_marks.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;
using admin::AdminAnswer;
using admin::AdminCall;
using Outcome = store::OverrideReport::Outcome;
using SteadyClock = std::chrono::steady_clock;

const std::string service_yaml = R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
access_log: off
workers: 1
identities: {api_key: {header: X-Api-Key}}
policies: {plain: {rate: 10/1s}}
routes: [{respond: {status: 200}, limits: [{policy: plain, key: api_key}]}]
)";
const std::string hash = "000000000000000000000000000000ab";
const AdminCall put{.method = AdminCall::Method::put,
                    .body = R"({"key":"hash:)" + hash + R"(","policy":"plain","deny":true})"};
const AdminCall remove_it{.method = AdminCall::Method::remove,
                          .query = "key=hash:" + hash + "&policy=plain"};
const AdminCall list{.method = AdminCall::Method::get};

struct NoEntries final : store::EntryReader {
  void read_entries(const Hash128&, const std::string&, Done) override {
    FAIL("a call for an override has read entries");
  }
};

/// Keeps each call until the test reports.
struct ScriptedOverrides final : store::Overrides {
  void put(const Hash128& identity, const store::Override& entry, Instant, Done its) override {
    if (is_out_of_memory) throw std::bad_alloc();
    CHECK(identity == Hash128{.low = 0xab});
    CHECK(entry.kind == store::Override::Kind::denied);
    done.push_back(std::move(its));
  }
  void remove(const Hash128& identity, const std::string& policy, Instant, Done its) override {
    CHECK(identity == Hash128{.low = 0xab});
    CHECK(policy == "plain");
    done.push_back(std::move(its));
  }
  void end_denials(Done its) override { done.push_back(std::move(its)); }
  void list(const std::optional<Hash128>&, Instant, std::stop_token its_over, Done its) override {
    over = std::move(its_over);
    done.push_back(std::move(its));
  }

  std::vector<Done> done;
  std::stop_token over;
  bool is_out_of_memory = false;
};

struct ServiceFixture {
  explicit ServiceFixture(bool is_shared, std::chrono::milliseconds longest_wait = 1h)
      : service(
            {.io = io,
             .clock = clock,
             .running = running,
             .memory = memory,
             .with_shared = [this, is_shared](auto task) { task(is_shared ? &shared : nullptr); },
             .longest_wait = longest_wait}) {
    const auto loaded = text_source("test", service_yaml).load(1s, nullptr);
    REQUIRE(loaded.has_value());
    auto prepared = running.prepare(*loaded);
    REQUIRE(prepared.has_value());
    running.commit(std::move(*prepared));
  }

  void call(const AdminCall& which) {
    service.handle(which, [this](AdminAnswer answer) { answers.push_back(std::move(answer)); });
  }
  void report(store::OverrideReport report) {
    REQUIRE(scripted.done.size() == 1);
    const auto done = std::exchange(scripted.done, {}).front();
    done(std::move(report));
  }
  /// Runs what needs no time to pass.
  void poll() {
    io.restart();
    io.poll();
  }
  void run_until_answered() {
    io.restart();
    while (answers.empty())
      REQUIRE(io.run_one() == 1);
  }
  /// The answer to a call that is reported like this.
  AdminAnswer answer_to(const AdminCall& which, store::OverrideReport its_report) {
    answers.clear();
    call(which);
    report(std::move(its_report));
    poll();
    REQUIRE(answers.size() == 1);
    return answers.front();
  }

  boost::asio::io_context io;
  MonotonicClock clock;
  RunningConfiguration running{1'000};
  store::OverrideTable memory;
  ScriptedOverrides scripted;
  store::MemoryStore unused{{}};
  NoEntries no_entries;
  NoEventMarks no_marks;
  SharedAccess shared{
      .overrides = scripted, .decisions = unused, .entries = no_entries, .event_marks = no_marks};
  std::vector<AdminAnswer> answers;
  OverrideService service;
};

bool has(const AdminAnswer& answer, std::string_view text) {
  return answer.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("Calls that Redis does not report in time are answered 503, and a list is stopped") {
  for (const auto* const which : {&put, &remove_it, &list}) {
    ServiceFixture fixture(true, 0ms);
    fixture.call(*which);
    CHECK_FALSE(fixture.scripted.over.stop_requested());
    fixture.run_until_answered();
    REQUIRE(fixture.answers.size() == 1);
    const AdminAnswer& answer = fixture.answers.front();
    CHECK(answer.status == 503);
    CHECK(has(answer, "a change may have been made") == (which != &list));
    CHECK(has(answer, "did not list the overrides in time") == (which == &list));
    CHECK(fixture.scripted.over.stop_requested() == (which == &list));
    fixture.report({});
    fixture.poll();
    CHECK(fixture.answers.size() == 1);
  }
}

TEST_CASE("A call for which the store has no memory is answered 503 in the end") {
  ServiceFixture fixture(true, 0ms);
  fixture.scripted.is_out_of_memory = true;
  fixture.call(put);
  fixture.run_until_answered();
  REQUIRE(fixture.answers.size() == 1);
  CHECK(fixture.answers.front().status == 503);
}

TEST_CASE("A lost connection is answered 503, with what it means for a change and for a list") {
  ServiceFixture fixture(true);
  const store::OverrideReport lost{.outcome = Outcome::failed,
                                   .error = store::Error::connection_lost};
  for (const auto* const which : {&put, &remove_it, &list}) {
    const AdminAnswer answer = fixture.answer_to(*which, lost);
    CHECK(answer.status == 503);
    CHECK(has(answer, "a change may have been made") == (which != &list));
    CHECK(has(answer, "did not list the overrides in time") == (which == &list));
  }
}

TEST_CASE("Without a connection the answer is that nothing was changed") {
  ServiceFixture fixture(true);
  const store::OverrideReport unsent{.outcome = Outcome::failed,
                                     .error = store::Error::not_connected};
  for (const auto* const which : {&put, &remove_it, &list}) {
    const AdminAnswer answer = fixture.answer_to(*which, unsent);
    CHECK(answer.status == 503);
    CHECK(has(answer, "redis is not reachable"));
    CHECK(has(answer, "nothing was changed") == (which != &list));
    CHECK_FALSE(has(answer, "may have been made"));
  }
}

TEST_CASE("An override that no limit can use is stored, with a warning in the answer") {
  ServiceFixture fixture(false);
  fixture.call({.method = AdminCall::Method::put,
                .body = R"({"key":"192.0.2.1","identity":"client","deny":true})"});
  fixture.poll();
  REQUIRE(fixture.answers.size() == 1);
  CHECK(fixture.answers.front().status == 200);
  CHECK(has(fixture.answers.front(),
            R"(,"deny":true,"warning":"no limit of a route has the key client, so this override )"
            R"(has no effect; add such a limit, or delete the override"})"));
  fixture.call(list);
  fixture.poll();
  CHECK_FALSE(has(fixture.answers.back(), "warning"));
}

TEST_CASE("A deletion of nothing names the policy") {
  ServiceFixture fixture(false);
  fixture.call(remove_it);
  fixture.call({.method = AdminCall::Method::remove, .query = "key=hash:" + hash});
  fixture.poll();
  REQUIRE(fixture.answers.size() == 2);
  CHECK(has(fixture.answers[0], "no such override: the key has none for the policy plain"));
  CHECK(has(fixture.answers[1], "no such override: the key has none for all policies"));
}

TEST_CASE("A change in Redis is answered after settled_after, when no instance uses old denials") {
  const std::vector<std::pair<AdminCall, int>> changes{{put, 200}, {remove_it, 204}};
  for (const auto& [change, status] : changes) {
    ServiceFixture fixture(true);
    fixture.call(change);
    fixture.poll();
    CHECK(fixture.answers.empty());
    const auto reported_at = SteadyClock::now();
    fixture.report({});
    fixture.run_until_answered();
    CHECK(SteadyClock::now() - reported_at >= store::DenialConfirmation::settled_after);
    REQUIRE(fixture.answers.size() == 1);
    CHECK(fixture.answers.front().status == status);
  }
}

TEST_CASE("A change that Redis has not made is answered at once, as a list is") {
  ServiceFixture fixture(true);
  const store::OverrideReport full{.outcome = Outcome::full};
  const store::OverrideReport absent{.outcome = Outcome::absent};
  const store::OverrideReport refused{.outcome = Outcome::failed, .error = store::Error::refused};
  CHECK(fixture.answer_to(put, full).status == 409);
  CHECK(fixture.answer_to(remove_it, absent).status == 404);
  const AdminAnswer failed = fixture.answer_to(put, refused);
  CHECK(failed.status == 503);
  CHECK(has(failed, "(refused)"));
  const AdminAnswer listed = fixture.answer_to(
      list,
      {.overrides = {{.identity = {.low = 0xab}, .policy = "plain", .details = "\"deny\":true"},
                     {.identity = {.low = 0xab}, .is_malformed = true},
                     {.identity = {.low = 0xab}, .policy = "bare"}},
       .is_complete = false});
  CHECK(listed.status == 200);
  CHECK(listed.body == R"({"store":"redis","overrides":[{"hash":")" + hash +
                           R"(","policy":"plain","deny":true},{"hash":")" + hash +
                           R"(","malformed":true},{"hash":")" + hash +
                           R"(","policy":"bare"}],"complete":false})"
                           "\n");
  AdminCall of_policy = list;
  of_policy.query = "policy=plain&key=hash:" + hash;
  CHECK(has(fixture.answer_to(of_policy, {.overrides = {{.identity = {.low = 0xab}}}}),
            "\"overrides\":[]"));
}

TEST_CASE("The memory store answers at once") {
  ServiceFixture fixture(false);
  for (const auto* const which : {&put, &list, &remove_it, &remove_it}) {
    fixture.call(*which);
    fixture.poll();
  }
  REQUIRE(fixture.answers.size() == 4);
  const std::string entry = R"("hash":")" + hash + R"(","policy":"plain","deny":true})";
  CHECK(fixture.answers[0].body == R"({"store":"memory",)" + entry + "\n");
  CHECK(fixture.answers[1].body ==
        R"({"store":"memory","overrides":[{)" + entry + "],\"complete\":true}\n");
  CHECK(fixture.answers[2].status == 204);
  CHECK(fixture.answers[3].status == 404);
}

TEST_CASE("A bad request is answered 422, and the store is not called") {
  ServiceFixture fixture(true);
  fixture.call({.method = AdminCall::Method::put, .body = "[]"});
  fixture.call({.method = AdminCall::Method::remove});
  fixture.call({.method = AdminCall::Method::get, .query = "colour=red"});
  REQUIRE(fixture.answers.size() == 3);
  for (const AdminAnswer& answer : fixture.answers)
    CHECK(answer.status == 422);
  CHECK(fixture.scripted.done.empty());
}

TEST_CASE("A drain answers the pending calls and later ones, and stops the lists") {
  ServiceFixture fixture(true);
  fixture.call(put);
  fixture.call(list);
  fixture.service.stop();
  fixture.call(put);
  REQUIRE(fixture.answers.size() == 3);
  for (const AdminAnswer& answer : fixture.answers) {
    CHECK(answer.status == 503);
    CHECK(has(answer, "draining"));
  }
  CHECK(fixture.scripted.over.stop_requested());
  for (const auto& done : fixture.scripted.done)
    done({});
  fixture.poll();
  CHECK(fixture.answers.size() == 3);
}

TEST_CASE("Calls of the admin server are made on the service's loop") {
  ServiceFixture fixture(false);
  std::vector<AdminAnswer> answers;
  const admin::TestProcess process;
  fixture.service.endpoint().handle(list, process.instruments(), [&](AdminAnswer answer) {
    answers.push_back(std::move(answer));
  });
  CHECK(answers.empty());
  fixture.poll();
  CHECK(answers.size() == 1);
}

}  // namespace weir::app
