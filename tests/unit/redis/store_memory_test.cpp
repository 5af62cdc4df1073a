// Requests for which there is no memory: each is completed once, or its call throws and sends
// nothing.
#include <algorithm>
#include <new>

#include "catch.hpp"
#include "store_fixture.hpp"
#include "unit/http/allocations.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

TEST_CASE("without memory a request that finds no connection is completed once") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.outcome() == store::Error::not_connected);  // its place is used again
  Asked first(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(first); });
  CHECK(first.times == 0);
  Asked second(fixture.gcra, 1, 1);
  fixture.send(second);
  REQUIRE(fixture.run_until([&] { return second.times > 0; }));
  CHECK(first.times == 1);
  CHECK(first.error == store::Error::not_connected);
  CHECK(second.times == 1);
  CHECK(fixture.outcome() == store::Error::not_connected);
}

TEST_CASE("without memory a request is sent and decided in the place of an earlier one") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  Asked asked(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(asked); });
  REQUIRE(fixture.run_until([&] { return asked.times > 0; }));
  CHECK(asked.times == 1);
  CHECK(asked.error == store::Error::none);
  CHECK(asked.decision.remaining == 998);
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a request too long for the memory throws, and the next one is decided") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  Asked large(fixture.gcra, 1, 1);
  const std::vector<store::Claim> claims(store::claims_per_request, large.claim);
  std::vector<rules::Decision> decisions(claims.size());
  large.acquisition = {.claims = claims, .decisions = decisions};
  bool is_thrown = false;
  without_memory([&] {
    try {
      fixture.send(large);
    } catch (const std::bad_alloc&) {
      is_thrown = true;
    }
  });
  CHECK(is_thrown);
  // It has left its place, and the buffer of the command.
  Asked next(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(next); });
  REQUIRE(fixture.run_until([&] { return next.times > 0; }));
  CHECK(next.error == store::Error::none);
  CHECK(next.decision.remaining == 998);
  CHECK(large.times == 0);
  fixture.send(large);
  REQUIRE(fixture.run_until([&] { return large.times > 0; }));
  CHECK(large.times == 1);
  CHECK(large.error == store::Error::none);
}

// Each of the following cases lets one allocation fail, then the next one, until a run needs no
// more. hiredis allocates with malloc(), which does not fail here.

namespace {

/// `run` returns whether an allocation has failed in it.
template <class Run>
void with_each_allocation_failing(Run&& run) {
  std::size_t number = 1;
  while (run(number))
    ++number;
  CAPTURE(number);
  CHECK(number > 1);
}

}  // namespace

TEST_CASE("a connection for which an allocation fails is made in a later attempt") {
  RedisProcess redis;
  with_each_allocation_failing([&](std::size_t number) {
    StoreFixture fixture(redis);
    bool is_ready = false;
    const bool has_failed = is_failed_allocation(number, [&] { is_ready = fixture.start(); });
    CAPTURE(number, std::string(fixture.store->last_error()));
    REQUIRE(is_ready);
    REQUIRE(fixture.outcome() == store::Error::none);
    return has_failed;
  });
}

TEST_CASE("a lookup for which an allocation fails is made in a later attempt") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.host = "localhost";
  options.connect_timeout = 200ms;
  with_each_allocation_failing([&](std::size_t number) {
    StoreFixture fixture(options);
    const bool has_failed = is_failed_allocation(number, [&] {
      try {
        fixture.start();
      } catch (const std::bad_alloc&) {
        // Asio allocates the list of addresses before it calls the handler, and loses the lookup.
      }
    });
    CAPTURE(number);
    REQUIRE(fixture.run_until_ready());
    REQUIRE(fixture.outcome() == store::Error::none);
    return has_failed;
  });
}

TEST_CASE("without memory no attempt to connect succeeds, and each is reported as failed") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  int reports = 0;
  fixture.store->watch([&] { ++reports; });
  without_memory([&] {
    fixture.store->start();
    fixture.run_until([&] { return reports >= 3; });
  });
  CHECK(reports >= 3);
  CHECK_FALSE(fixture.store->is_ready());
  CHECK(fixture.store->last_error() ==
        "127.0.0.1:" + std::to_string(redis.port()) + ": out of memory");
  CHECK(fixture.run_until_ready());
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a connection that ends while an allocation fails is made again") {
  RedisProcess redis;
  RedisCli cli(redis);
  with_each_allocation_failing([&](std::size_t number) {
    StoreFixture fixture(redis);
    REQUIRE(fixture.start());
    cli({"CLIENT", "KILL", "TYPE", "normal"});
    const bool has_failed = is_failed_allocation(number, [&] {
      fixture.run_until([&] { return !fixture.store->is_ready(); });
      fixture.run_until_ready();
    });
    CAPTURE(number);
    REQUIRE(fixture.store->is_ready());
    REQUIRE(fixture.outcome() == store::Error::none);
    return has_failed;
  });
}

TEST_CASE("a request whose error reply finds no memory is completed once, as that error") {
  struct Row {
    std::vector<std::string> failure;
    std::vector<std::string> repair;
    store::Error error;
    std::string code;
  };
  const auto row = GENERATE(
      values<Row>({{{"CONFIG", "SET", "maxmemory", "1"},
                    {"CONFIG", "SET", "maxmemory", "0"},
                    store::Error::out_of_memory,
                    "OOM"},
                   {{"REPLICAOF", "127.0.0.1", "1"},
                    {"REPLICAOF", "NO", "ONE"},
                    store::Error::read_only,
                    "READONLY"},
                   {{"SCRIPT", "FLUSH"}, {"PING"}, store::Error::script_missing, "NOSCRIPT"}}));
  RedisProcess redis;
  RedisCli cli(redis);
  CAPTURE(to_string(row.error));
  with_each_allocation_failing([&](std::size_t number) {
    StoreFixture fixture(redis);
    REQUIRE(fixture.start());
    cli(row.failure);
    Asked asked(fixture.gcra, 1, 1);
    fixture.send(asked);
    const bool has_failed =
        is_failed_allocation(number, [&] { fixture.run_until([&] { return asked.times > 0; }); });
    CAPTURE(number);
    REQUIRE(asked.times == 1);
    // The question is sent again if there is memory for it.
    const bool is_repeatable = row.error == store::Error::script_missing;
    REQUIRE((asked.error == row.error || (is_repeatable && asked.error == store::Error::none)));
    if (asked.error == row.error)
      REQUIRE(fixture.store->last_reply(row.error).starts_with(row.code));
    cli(row.repair);
    REQUIRE(fixture.run_until([&] { return fixture.outcome() == store::Error::none; }));
    CHECK(asked.times == 1);
    return has_failed;
  });
}

TEST_CASE("questions for whose call an allocation fails are sent, joined or one by one") {
  RedisProcess redis;
  with_each_allocation_failing([&](std::size_t number) {
    StoreFixture fixture(redis);
    REQUIRE(fixture.start());
    // The script is loaded, and no call was made yet.
    for (std::uint64_t who = 1; who <= 8; ++who)
      fixture.ask(who);
    REQUIRE(fixture.run_until_completed());
    REQUIRE(fixture.counters.joined_calls.value() == 0);
    std::list<Asked> requests;
    for (std::uint64_t who = 1; who <= 8; ++who)
      requests.emplace_back(fixture.gcra, who, 1);
    const bool has_failed = is_failed_allocation(number, [&] {
      for (Asked& asked : requests)
        fixture.send(asked);
      fixture.run_until(
          [&] { return std::ranges::all_of(requests, [](auto& one) { return one.times > 0; }); });
    });
    CAPTURE(number);
    for (const Asked& asked : requests) {
      REQUIRE(asked.times == 1);
      REQUIRE(asked.error == store::Error::none);
    }
    REQUIRE(fixture.counters.joined_calls.value() == (has_failed ? 0 : 1));
    REQUIRE(fixture.store->unanswered() == 0);
    REQUIRE(fixture.outcome() == store::Error::none);
    return has_failed;
  });
}

TEST_CASE("a call about overrides for which an allocation fails throws, or is reported once") {
  using store::OverrideReport;
  using Call = void (*)(store::Overrides&, store::Overrides::Done);
  static constexpr Hash128 who{.low = 1};
  static const store::Override denial{.kind = store::Override::Kind::denied, .details = "\"d\":1"};
  constexpr Call put = [](auto& overrides, auto done) {
    overrides.put(who, denial, Instant{}, std::move(done));
  };
  constexpr Call remove = [](auto& overrides, auto done) {
    overrides.remove(who, "", Instant{}, std::move(done));
  };
  constexpr Call list_one = [](auto& overrides, auto done) {
    overrides.list(who, Instant{}, {}, std::move(done));
  };
  constexpr Call list_all = [](auto& overrides, auto done) {
    overrides.list({}, Instant{}, {}, std::move(done));
  };
  RedisProcess redis;
  // The order matters: an override is put before it is listed and removed.
  for (const Call call : {put, list_one, list_all, remove}) {
    with_each_allocation_failing([&](std::size_t number) {
      StoreFixture fixture(redis);
      REQUIRE(fixture.start());
      int reports = 0;
      bool is_thrown = false;
      auto outcome = OverrideReport::Outcome::failed;
      const auto receive = [&](const OverrideReport& report) {
        ++reports;
        outcome = report.outcome;
      };
      const bool has_failed = is_failed_allocation(number, [&] {
        try {
          call(fixture.topology->overrides(), receive);
        } catch (const std::bad_alloc&) {
          is_thrown = true;
        }
        if (!is_thrown) fixture.run_until([&] { return reports > 0; });
      });
      CAPTURE(number);
      REQUIRE(reports == (is_thrown ? 0 : 1));
      // The reply of a removal that was not reported as done is lost; later ones find nothing.
      if (!has_failed && call != remove) REQUIRE(outcome == OverrideReport::Outcome::done);
      REQUIRE(fixture.outcome() == store::Error::none);
      return has_failed;
    });
  }
}

TEST_CASE("a report for which the receiver finds no memory is made once more, as a failure") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  for (const int failures : {0, 1, 2}) {
    CAPTURE(failures);
    std::vector<store::Error> errors;
    fixture.topology->overrides().list({}, Instant{}, {}, [&](const store::OverrideReport& report) {
      errors.push_back(report.error);
      if (static_cast<int>(errors.size()) <= failures) throw std::bad_alloc();
    });
    REQUIRE(fixture.run_until([&] { return !errors.empty(); }));
    CHECK(fixture.outcome() == store::Error::none);
    CHECK(errors.size() == (failures == 0 ? 1 : 2));
    CHECK(errors.back() == (failures == 0 ? store::Error::none : store::Error::out_of_memory));
  }
}

TEST_CASE("without memory a request that Redis does not answer fails after its timeout") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 20ms;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  REQUIRE(fixture.run_until_decided());
  redis.pause();
  Asked first(fixture.gcra, 1, 1);
  Asked second(fixture.gcra, 1, 1);
  fixture.send(first);
  fixture.send(second, -20ms);  // the timer is armed again for it
  without_memory([&] {
    fixture.run_until([&] { return first.times + second.times == 2; });
    fixture.store->reconnect();
  });
  CHECK(first.error == store::Error::timeout);
  CHECK(second.error == store::Error::timeout);
  redis.resume();
  CHECK(fixture.run_until_ready());
}

namespace {

/// Adds as many timers to a loop without others as its list has room for, and ends the memory.
struct TimersFilled final : store::Completion {
  explicit TimersFilled(boost::asio::io_context& its_io) : io(its_io) { timers.reserve(size); }
  void complete(const store::Result& result, Instant) noexcept override {
    error = result.error;
    while (timers.size() < size)
      timers.emplace_back(io, 1h).async_wait([](auto) {});
    is_out_of_memory = true;
  }

  static constexpr std::size_t size = 64;  ///< a power of two, by which the list grows
  boost::asio::io_context& io;
  std::vector<boost::asio::basic_waitable_timer<SteadyClock, boost::asio::wait_traits<SteadyClock>,
                                                boost::asio::io_context::executor_type>>
      timers;
  std::optional<store::Error> error;
};

}  // namespace

TEST_CASE("deadlines for which the timer finds no memory are kept until there is some") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 20ms;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  REQUIRE(fixture.run_until_decided());
  redis.pause();
  Asked overdue(fixture.gcra, 1, 1);
  Asked later(fixture.gcra, 1, 1);
  TimersFilled filled(fixture.io);
  fixture.send(overdue, filled);
  fixture.send(later, -300ms);
  struct Restored {
    ~Restored() { is_out_of_memory = false; }
  } restored;
  REQUIRE(fixture.run_until([&] { return filled.error.has_value(); }));
  REQUIRE(is_out_of_memory);
  for (int i = 0; i < 5; ++i)
    fixture.io.run_one();  // the store tries again in each pass
  is_out_of_memory = false;
  REQUIRE(fixture.run_until([&] { return later.times > 0; }));
  CHECK(later.error == store::Error::timeout);
  CHECK(filled.error == store::Error::timeout);
  filled.timers.clear();
  redis.resume();
}
