// The calls of the admin API before a real server.
#include "redis/override_commands.hpp"

#include <stop_token>
#include <string>

#include "catch.hpp"
#include "redis_under_test.hpp"

using namespace weir;
using namespace weir::redis::test;
using store::Override;
using store::test::epoch;
using Outcome = store::OverrideReport::Outcome;
using namespace std::chrono_literals;

namespace {

const Override denial{.kind = Override::Kind::denied, .until = epoch + 60s};

void add_other_keys(RedisUnderTest& store, int count) {
  store.redis("EVAL",
              "for i = 1, tonumber(ARGV[1]) do "
              "redis.call('SET', string.format('weir:{%032x}:gcra', i), 'x', 'EX', 600) end",
              "0", std::to_string(count));
}

/// How often SCAN was called while `run` ran.
template <class Run>
int scans_in(RedisUnderTest& store, Run&& run) {
  store.redis("CONFIG", "RESETSTAT");
  run();
  const std::string text = store.redis.text(store.redis("INFO", "commandstats"));
  const std::string name = "cmdstat_scan:calls=";
  const auto at = text.find(name);
  return at == std::string::npos ? 0 : std::stoi(text.substr(at + name.size()));
}

}  // namespace

TEST_CASE("A list of all overrides that is stopped reads no further page") {
  RedisUnderTest store;
  REQUIRE(store.put({.low = 1}, denial, epoch).outcome == Outcome::done);
  add_other_keys(store, 5'000);
  store::OverrideReport report;
  CHECK(scans_in(store, [&] { report = store.list({}, epoch); }) >= 5);
  CHECK(report.is_complete);
  CHECK(report.overrides.size() == 1);

  std::stop_source over;
  over.request_stop();
  CHECK(scans_in(store, [&] { report = store.list({}, epoch, over.get_token()); }) == 1);
  CHECK_FALSE(report.is_complete);
}

TEST_CASE("Without a connection every call is reported as not connected") {
  boost::asio::io_context io;
  const options::Redis options;
  const MonotonicClock clock;
  redis::StoreCounters counters;
  redis::NodeCountersList node_counters;
  redis::Topology redis(
      io, options,
      {.entries = {.policy_names = {"p"}, .algorithm_sets = all_algorithm_sets()}, .seed = 1},
      clock, counters, node_counters);  // not started
  std::vector<store::OverrideReport> reports;
  const auto keep = [&](store::OverrideReport report) { reports.push_back(std::move(report)); };
  redis.overrides().put({.low = 1}, denial, epoch, keep);
  redis.overrides().remove({.low = 1}, "p", epoch, keep);
  redis.overrides().list(Hash128{.low = 1}, epoch, {}, keep);
  redis.overrides().list({}, epoch, {}, keep);
  REQUIRE(reports.size() == 4);
  for (const auto& report : reports) {
    CHECK(report.outcome == Outcome::failed);
    CHECK(report.error == store::Error::not_connected);
  }
}

TEST_CASE("An identity that two keys name is listed once") {
  RedisUnderTest store;
  REQUIRE(store.put({.low = 0xab}, denial, epoch).outcome == Outcome::done);
  store.redis("SET", "weir:{000000000000000000000000000000AB}:!", "1\n", "EX", "600");
  const auto report = store.list({}, epoch);
  CHECK(report.is_complete);
  REQUIRE(report.overrides.size() == 1);
  CHECK(report.overrides.front().identity == Hash128{.low = 0xab});
}
