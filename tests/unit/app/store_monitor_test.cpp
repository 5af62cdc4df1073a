// Reports of a worker about Redis, from readings made by the test.
#include "app/store_monitor.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

using Lines = std::vector<LogLine>;
using Level = LogLine::Level;
using store::Error;

const Instant monitor_start = instant_from_us(1'700'000'000'000'000);
constexpr auto second = std::chrono::seconds(1);

const StoreReading good{.is_ready = true, .has_decided = true, .is_breaker_closed = true};
/// Connected again: no decision yet.
const StoreReading connected{.is_ready = true, .is_breaker_closed = true};
const StoreReading unreachable{.is_breaker_closed = true, .redis_error = "connection refused"};

struct MonitorFixture {
  Lines first(const StoreReading& reading) { return one.update(reading, monitor_start); }
  Lines second(const StoreReading& reading) { return two.update(reading, monitor_start); }

  admin::StoreHealth health{2};
  StoreMonitor one{health, 0};
  StoreMonitor two{health, 1};
};

StoreReading with_error(Error error, std::uint64_t count, std::string_view reply) {
  StoreReading reading = good;
  reading.errors[static_cast<std::size_t>(error)] = count;
  reading.error_replies[static_cast<std::size_t>(error)] = reply;
  return reading;
}

}  // namespace

TEST_CASE("The loss of Redis is logged once for all workers, and its return") {
  MonitorFixture fixture;
  CHECK(fixture.first(connected).empty());
  CHECK(fixture.second(connected).empty());
  CHECK(fixture.health.is_up());
  const Lines lost{
      {Level::warning, "redis is not reachable: connection refused; deciding by on_failure"}};
  CHECK(fixture.first(unreachable) == lost);
  CHECK(fixture.first(unreachable).empty());
  CHECK(fixture.second(unreachable).empty());
  CHECK_FALSE(fixture.health.is_up());
  CHECK(fixture.health.last_error() == "redis is not reachable: connection refused");
  CHECK(fixture.first(good).empty());
  CHECK(fixture.second(good) == Lines{{Level::info, "redis is back"}});
  CHECK(fixture.health.last_error().empty());
}

TEST_CASE("After an outage only a decision shows that Redis is back") {
  MonitorFixture fixture;
  fixture.first(good);
  fixture.second(good);
  fixture.first(unreachable);
  CHECK(fixture.first(connected).empty());
  CHECK_FALSE(fixture.health.is_up());
  CHECK(fixture.health.last_error() == "redis does not decide: none");
  CHECK(fixture.first(good) == Lines{{Level::info, "redis is back"}});
}

TEST_CASE("The first connection to another Redis is enough, as at the start") {
  MonitorFixture fixture;
  fixture.first(unreachable);
  fixture.second(good);
  fixture.one.begin(2);
  CHECK(fixture.first(connected) == Lines{{Level::info, "redis is back"}});
  CHECK(fixture.health.last_error().empty());
}

TEST_CASE("Another Redis that is not reachable is logged, once for all workers") {
  MonitorFixture fixture;
  const Lines lost{
      {Level::warning, "redis is not reachable: connection refused; deciding by on_failure"}};
  CHECK(fixture.first(unreachable) == lost);
  CHECK(fixture.second(unreachable).empty());
  fixture.one.begin(2);
  // Its reason is not known yet.
  CHECK(fixture.first({.is_breaker_closed = true}).empty());
  CHECK_FALSE(fixture.health.is_up());
  CHECK(fixture.first(unreachable) == lost);
  fixture.two.begin(2);
  CHECK(fixture.second(unreachable).empty());
  CHECK(fixture.first(good).empty());
  CHECK(fixture.second(good) == Lines{{Level::info, "redis is back"}});
}

TEST_CASE("A change of the masters is logged once for all workers, before the return of Redis") {
  const auto found = [](StoreReading reading, std::uint16_t port) {
    reading.masters = std::make_shared<const redis::MasterLayout>(
        redis::MasterLayout{.name = "mymaster", .ranges = {{0, 16383, {"10.0.0.1", port}}}});
    return reading;
  };
  const LogLine change{Level::info,
                       "redis sentinel: the master \"mymaster\" is 10.0.0.1:2 now; it replaces "
                       "10.0.0.1:1"};
  MonitorFixture fixture;
  CHECK(fixture.first(found(good, 1)).empty());
  CHECK(fixture.second(found(good, 1)).empty());
  fixture.first(found(unreachable, 1));
  CHECK(fixture.first(found(good, 2)) == Lines{change, {Level::info, "redis is back"}});
  CHECK(fixture.second(found(good, 2)).empty());
  // The first masters of another Redis are no change, and those of the former one do not count.
  fixture.one.begin(2);
  CHECK(fixture.first(found(good, 3)).empty());
  CHECK(fixture.second(found(good, 4)).empty());
  CHECK(fixture.first(found(good, 3)).empty());
  fixture.two.begin(2);
  CHECK(fixture.second(found(good, 3)).empty());
}

TEST_CASE("A node of a cluster answers for a part of the keys only") {
  MonitorFixture fixture;
  fixture.second(good);
  StoreReading partial = good;
  partial.is_partial = true;
  const std::string text =
      "redis answers for a part of the keys only: the server is a node of a Redis Cluster; write "
      "topology: cluster in store.redis";
  CHECK(fixture.first(partial) == Lines{{Level::warning, text + "; deciding by on_failure"}});
  CHECK(fixture.first(partial).empty());
  CHECK_FALSE(fixture.health.is_up());
  CHECK(fixture.health.last_error() == text);
  // Whatever the latest result was.
  partial.is_breaker_closed = false;
  CHECK(fixture.first(partial).empty());
  CHECK(fixture.first(good) == Lines{{Level::info, "redis is back"}});
}

TEST_CASE("An open breaker is a loss, with the error reply or the kind of the failure") {
  MonitorFixture fixture;
  StoreReading open = good;
  open.is_breaker_closed = false;
  open.last_error = Error::timeout;
  CHECK(fixture.first(open) ==
        Lines{{Level::warning, "redis does not decide: timeout; deciding by on_failure"}});
  CHECK(fixture.health.is_up() == false);  // the other worker has reported nothing
  open.redis_error = "OOM command not allowed";
  const Lines another{
      {Level::warning, "redis does not decide: OOM command not allowed; deciding by on_failure"}};
  CHECK(fixture.first(open) == another);
  CHECK(fixture.first(open).empty());
  CHECK(fixture.health.last_error() == "redis does not decide: OOM command not allowed");
}

TEST_CASE("Each further reason of an outage is logged, at most once a minute") {
  MonitorFixture fixture;
  CHECK(fixture.first(unreachable).size() == 1);
  StoreReading reading = unreachable;
  reading.redis_error = "AUTH: WRONGPASS invalid username-password pair";
  reading.connection_failure = Error::refused;
  const Lines logged{
      {Level::warning,
       "redis refuses the connection: AUTH: WRONGPASS invalid username-password pair; "
       "deciding by on_failure"}};
  CHECK(fixture.first(reading) == logged);
  CHECK(fixture.second(reading).empty());
  CHECK(fixture.first(unreachable).empty());
  CHECK(fixture.first(reading).empty());
  CHECK(fixture.one.update(unreachable, monitor_start + std::chrono::seconds(59)).empty());
  // The present reason is the last one in the log within a minute.
  CHECK(fixture.one.update(unreachable, monitor_start + std::chrono::minutes(1)).size() == 1);
  fixture.first(good);
  fixture.second(good);
  // Also after Redis was back.
  CHECK(fixture.first(reading).empty());
  CHECK(fixture.one.update(reading, monitor_start + std::chrono::minutes(1)) == logged);
}

TEST_CASE("Replies that differ each time hide no other kind of reason") {
  MonitorFixture fixture;
  StoreReading garbage = unreachable;
  garbage.connection_failure = Error::other;
  std::size_t logged = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string text = "Protocol error, got \"" + std::to_string(i) + "\"";
    garbage.redis_error = text;
    logged += fixture.first(garbage).size();
  }
  CHECK(logged == 3);
  StoreReading wrong = unreachable;
  wrong.connection_failure = Error::refused;
  wrong.redis_error = "AUTH: WRONGPASS invalid username-password pair";
  CHECK(fixture.first(wrong).size() == 1);
  StoreReading gone = unreachable;
  gone.connection_failure = Error::not_connected;
  CHECK(fixture.first(gone).size() == 1);
  // Connected, but Redis does not decide.
  StoreReading open = good;
  open.is_breaker_closed = false;
  open.last_error = Error::out_of_memory;
  open.redis_error = "OOM command not allowed";
  CHECK(fixture.first(open).size() == 1);
  garbage.redis_error = "Protocol error, got \"100\"";
  CHECK(fixture.first(garbage).empty());
}

TEST_CASE("Short stalls in a row log one loss and one return a minute") {
  MonitorFixture fixture;
  StoreReading open = good;
  open.is_breaker_closed = false;
  open.last_error = Error::timeout;
  const Lines loss{{Level::warning, "redis does not decide: timeout; deciding by on_failure"}};
  const Lines back{{Level::info, "redis is back"}};
  fixture.second(good);
  for (int minute = 0; minute < 2; ++minute) {
    const Instant start = monitor_start + minute * std::chrono::minutes(1);
    CHECK(fixture.one.update(open, start) == loss);
    CHECK(fixture.one.update(good, start + 1 * second) == back);
    for (int i = 2; i < 60; i += 2) {
      CHECK(fixture.one.update(open, start + i * second).empty());
      CHECK_FALSE(fixture.health.is_up());
      CHECK(fixture.one.update(good, start + (i + 1) * second).empty());
      CHECK(fixture.health.is_up());
    }
  }
}

TEST_CASE("A stall that lasts is logged when the minute since the last one is over") {
  MonitorFixture fixture;
  fixture.first(unreachable);
  fixture.second(good);
  CHECK(fixture.one.update(good, monitor_start + 5 * second).size() == 1);
  CHECK(fixture.one.update(unreachable, monitor_start + 10 * second).empty());
  CHECK(fixture.one.update(unreachable, monitor_start + 59 * second).empty());
  CHECK(fixture.one.update(unreachable, monitor_start + 60 * second) ==
        Lines{{Level::warning,
               "redis is not reachable: connection refused; deciding by on_failure"}});
  CHECK(fixture.one.update(good, monitor_start + 61 * second).size() == 1);
}

TEST_CASE("A Redis that refuses the password is not one that cannot be reached") {
  MonitorFixture fixture;
  StoreReading refused = unreachable;
  refused.connection_failure = Error::refused;
  refused.redis_error =
      "10.0.0.1:6379: AUTH: WRONGPASS invalid; check the user and the password in store.redis.url";
  CHECK(fixture.first(refused) ==
        Lines{{Level::warning,
               "redis refuses the connection: 10.0.0.1:6379: AUTH: WRONGPASS invalid; check the "
               "user and the password in store.redis.url; deciding by on_failure"}});
  CHECK_FALSE(fixture.health.is_up());
}

TEST_CASE("Requests answered 503 in stalls that no tick has seen are logged with their number") {
  MonitorFixture fixture;
  StoreReading reading = good;
  const auto at = [&](int seconds) {
    return fixture.one.update(reading, monitor_start + seconds * second);
  };
  CHECK(at(0).empty());
  fixture.second(good);
  reading.undecided[static_cast<std::size_t>(Error::timeout)] = 20;
  CHECK(at(1).empty());
  reading.undecided[static_cast<std::size_t>(Error::timeout)] = 23;
  reading.undecided[static_cast<std::size_t>(Error::overloaded)] = 1;
  CHECK(at(10).empty());
  const std::string begin =
      "requests answered 503 by on_failure: deny, because redis did not decide: ";
  CHECK(at(11) == Lines{{Level::warning, begin + "24 within 10 s (timeout: 23, overloaded: 1)"}});
  CHECK(at(12).empty());
  // Also those of another worker, at most once a minute.
  reading.undecided[static_cast<std::size_t>(Error::timeout)] = 24;
  CHECK(at(13).empty());
  StoreReading other = good;
  other.undecided[static_cast<std::size_t>(Error::timeout)] = 5;
  CHECK(fixture.two.update(other, monitor_start + 70 * second).empty());
  CHECK(at(71) == Lines{{Level::warning, begin + "6 within 58 s (timeout: 6)"}});
  CHECK(at(200).empty());
}

TEST_CASE(
    "Requests answered 503 in an outage are logged when it is over, or when the worker ends") {
  MonitorFixture fixture;
  fixture.second(good);
  StoreReading away = unreachable;
  CHECK(fixture.first(away).size() == 1);
  const auto kind = static_cast<std::size_t>(Error::not_connected);
  away.undecided[kind] = 100;
  for (int i = 0; i < 200; ++i)
    CHECK(fixture.one.update(away, monitor_start + i * second).empty());
  const std::string line =
      "requests answered 503 by on_failure: deny, because redis did not decide: 100 within 200 s "
      "(not_connected: 100)";
  SECTION("over") {
    StoreReading back = good;
    back.undecided[kind] = 100;
    CHECK(fixture.one.update(back, monitor_start + 200 * second) ==
          Lines{{Level::info, "redis is back"}, {Level::warning, line}});
  }
  SECTION("the end") {
    CHECK(fixture.one.finish(away, monitor_start + 200 * second) == Lines{{Level::warning, line}});
    CHECK(fixture.one.finish(away, monitor_start + 201 * second).empty());
    away.undecided[kind] = 103;  // while the worker drained
    const Lines last = fixture.one.finish(away, monitor_start + 230 * second);
    REQUIRE(last.size() == 1);
    CHECK(last[0].text.ends_with(" did not decide: 3 (not_connected: 3)"));
  }
}

TEST_CASE("A server that has not answered yet is not reachable") {
  MonitorFixture fixture;
  CHECK(fixture.first({}) ==
        Lines{{Level::warning, "redis is not reachable: no answer yet; deciding by on_failure"}});
}

TEST_CASE("An error of Redis is logged with its remedy, once a minute for all workers") {
  MonitorFixture fixture;
  const Lines once{{Level::warning,
                    "redis could not decide (out_of_memory: OOM no); raise maxmemory, or set a "
                    "maxmemory-policy that evicts keys"}};
  CHECK(fixture.one.update(with_error(Error::out_of_memory, 1, "OOM no"), monitor_start) == once);
  CHECK(
      fixture.one.update(with_error(Error::out_of_memory, 1, "OOM no"), monitor_start + 61 * second)
          .empty());  // no new error
  CHECK(
      fixture.two.update(with_error(Error::out_of_memory, 5, "OOM no"), monitor_start + 59 * second)
          .empty());
  CHECK(fixture.two.update(with_error(Error::out_of_memory, 6, "OOM no"),
                           monitor_start + 60 * second) == once);
}

TEST_CASE("An error that Redis did not return is not logged by itself") {
  MonitorFixture fixture;
  for (const Error error : {Error::not_connected, Error::timeout, Error::connection_lost})
    CHECK(fixture.first(with_error(error, 3, "")).empty());
}

TEST_CASE("An error is logged before the loss that it leads to") {
  MonitorFixture fixture;
  StoreReading reading = with_error(Error::read_only, 2, "READONLY replica");
  reading.is_ready = false;
  reading.redis_error = "READONLY replica";
  const Lines lines = fixture.first(reading);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text ==
        "redis could not decide (read_only: READONLY replica); the server is a replica; set "
        "store.redis.url to the primary");
  CHECK(lines[1].text == "redis is not reachable: READONLY replica; deciding by on_failure");
}

TEST_CASE("The remedy for an error fits the topology") {
  MonitorFixture fixture;
  StoreReading reading = with_error(Error::read_only, 2, "READONLY replica");
  reading.topology = options::RedisTopology::cluster;
  const Lines lines = fixture.first(reading);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text.find("store.redis.servers") != std::string::npos);
}

}  // namespace weir::app
