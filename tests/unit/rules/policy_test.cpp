#include "rules/policy.hpp"

#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

constexpr Algorithm all[] = {Algorithm::fixed_window,   Algorithm::attributed_window,
                             Algorithm::sliding_window, Algorithm::sliding_log,
                             Algorithm::token_bucket,   Algorithm::gcra,
                             Algorithm::leaky_bucket};

std::string problem_of(const Definition& definition) {
  const Result<Policy, Fault> policy = compile(definition);
  return policy.has_value() ? std::string() : policy.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("policy: names of algorithms") {
  std::set<std::string_view> names;
  for (const Algorithm algorithm : all)
    names.insert(to_string(algorithm));
  CHECK(names.size() == std::size(all));
  CHECK_FALSE(names.contains(""));
  CHECK(to_string(Algorithm::sliding_log) == "sliding_log");
}

TEST_CASE("policy: what the rules need is precomputed") {
  const Policy gcra = policy_of({.algorithm = Algorithm::gcra, .rates = {{7, seconds(1)}}});
  CHECK(gcra.capacity == 7);
  CHECK(gcra.interval_us == 142'857);
  CHECK(gcra.interval_remainder == 1);
  CHECK(gcra.refill == seconds(1));
  CHECK(policy_of({.algorithm = Algorithm::token_bucket, .rates = {{3, seconds(1)}}, .burst = 4})
            .refill == microseconds(1'333'334));
  CHECK(policy_of({.algorithm = Algorithm::leaky_bucket, .rates = {{2, seconds(1)}}, .queue = 3})
            .refill == seconds(2));
  const Policy tiers =
      policy_of({.algorithm = Algorithm::sliding_window,
                 .rates = {{500, seconds(10)}, {100, seconds(1)}, {100, seconds(3)}}});
  CHECK(tiers.capacity == 100);
  CHECK(tiers.refill == seconds(3));
}

TEST_CASE("policy: every rate from one a month to a million a second is representable") {
  for (const Algorithm algorithm : all) {
    for (const Duration per : {Duration(seconds(1)), Duration(minutes(1)), Duration(hours(1)),
                               Duration(days(1)), Duration(days(30)), Duration(days(31))}) {
      const bool lists =
          algorithm == Algorithm::sliding_log || algorithm == Algorithm::attributed_window;
      for (const std::int64_t count : {1, 2, 3, 7, 10, 6999, 99'991, 999'983, 1'000'000}) {
        if (lists && count > 100'000) continue;
        INFO(to_string(algorithm) << " " << count << "/" << per.count() << "us");
        CHECK(problem_of({.algorithm = algorithm, .rates = {{count, per}}}).empty());
      }
    }
  }
  CHECK(problem_of({.rates = {{100'000'000, days(30)}}}).empty());
  CHECK(problem_of({.rates = {{10'000'000, seconds(1)}}}).empty());
}

TEST_CASE("policy: a value out of range is named, with what would be right") {
  const auto at_least = [](const Definition& definition, const char* what) {
    const std::string problem = problem_of(definition);
    INFO(problem);
    CHECK(contains(problem, what));
    CHECK(contains(problem, "must be"));
  };
  at_least({.rates = {Rate{}}}, "count is 0");
  at_least({.rates = {{0, seconds(1)}}}, "count is 0");
  at_least({.rates = {{-5, seconds(1)}}}, "count is -5");
  at_least({.rates = {{1, Duration{0}}}}, "duration is 0us");
  at_least({.rates = {{1, Duration{-1}}}}, "duration is -1us");
  at_least({.rates = {{huge, seconds(1)}}}, "too large");
  at_least({.rates = {{1, Duration{huge}}}}, "too long");
  at_least({.rates = {{1, seconds(1)}}, .burst = 0}, "burst is 0");
  at_least({.rates = {{1, seconds(1)}}, .burst = -1}, "burst is -1");
  at_least({.algorithm = Algorithm::leaky_bucket, .rates = {{1, seconds(1)}}, .queue = -1},
           "queue is -1");
  at_least({.algorithm = Algorithm::leaky_bucket, .rates = {{1, seconds(1)}}, .queue = huge},
           "queue is");
  at_least(
      {.algorithm = Algorithm::leaky_bucket, .rates = {{1, seconds(1)}}, .max_delay = Duration{-1}},
      "max_delay is -1us");
  CHECK(contains(problem_of({}), "rate is missing"));
}

TEST_CASE("policy: what cannot be counted exactly is refused with the bound") {
  CHECK(contains(problem_of({.rates = {{7, seconds(1)}}, .burst = huge}), "71 years"));
  CHECK(contains(problem_of({.rates = {{999'999'999, days(31)}}}), "cannot be counted exactly"));
  CHECK(contains(problem_of({.rates = {{1, days(30)}}, .burst = 10'000}), "71 years"));
  CHECK(contains(
      problem_of({.algorithm = Algorithm::leaky_bucket, .rates = {{1, days(30)}}, .queue = 10'000}),
      "queue 10000 would take more than 71 years"));
  CHECK(contains(problem_of({.algorithm = Algorithm::leaky_bucket,
                             .rates = {{999'983, seconds(1)}},
                             .max_delay = days(1)}),
                 "give queue"));
  CHECK(contains(
      problem_of({.algorithm = Algorithm::sliding_window, .rates = {{1, microseconds(15)}}}),
      "multiple of 10us"));
  CHECK(contains(
      problem_of({.algorithm = Algorithm::sliding_window, .rates = {{1 << 27, seconds(1)}}}),
      "67108864"));
}

TEST_CASE("policy: the bound that a message names is the bound") {
  for (const Rate& rate : {Rate{7, seconds(1)}, Rate{999'999'999, days(31)}, Rate{1, days(31)}}) {
    const std::string problem = problem_of({.rates = {rate}, .burst = huge});
    const std::string before = "use at most ";
    REQUIRE(contains(problem, before));
    const std::int64_t bound = std::stoll(problem.substr(problem.find(before) + before.size()));
    CHECK(problem_of({.rates = {rate}, .burst = bound}).empty());
    CHECK_FALSE(problem_of({.rates = {rate}, .burst = bound + 1}).empty());
  }
}

TEST_CASE("policy: the largest queue that a message names is the largest") {
  const auto of_queue = [](std::int64_t queue) {
    return problem_of(
        {.algorithm = Algorithm::leaky_bucket, .rates = {{1, days(31)}}, .queue = queue});
  };
  const std::string problem = of_queue(10'000);
  const std::int64_t bound = std::stoll(problem.substr(problem.rfind(' ')));
  CHECK(of_queue(bound).empty());
  CHECK_FALSE(of_queue(bound + 1).empty());
}

TEST_CASE("policy: a queue is derived from a max_delay up to 2^52 us divided by the count") {
  const auto of_delay = [](Duration max_delay) {
    return problem_of({.algorithm = Algorithm::leaky_bucket,
                       .rates = {{1 << 20, microseconds(1 << 20)}},
                       .max_delay = max_delay});
  };
  const Duration longest{std::int64_t{1} << 32};
  CHECK(of_delay(longest).empty());
  CHECK(contains(of_delay(longest + Duration{1}), "give queue"));
}

TEST_CASE("policy: a list or a log is bounded") {
  for (const Algorithm algorithm : {Algorithm::sliding_log, Algorithm::attributed_window}) {
    CHECK(problem_of({.algorithm = algorithm, .rates = {{100'000, days(1)}}}).empty());
    CHECK(contains(problem_of({.algorithm = algorithm, .rates = {{100'001, days(1)}}}),
                   "use at most 100000, or"));
  }
}

TEST_CASE("policy: a key that the algorithm does not use is refused") {
  const auto refused = [](Definition definition, Algorithm algorithm) {
    definition.algorithm = algorithm;
    definition.rates = {{10, seconds(1)}};
    return contains(problem_of(definition),
                    "has no meaning for " + std::string(to_string(algorithm)));
  };
  for (const Algorithm algorithm : all) {
    INFO(to_string(algorithm));
    const bool bucket = algorithm == Algorithm::gcra || algorithm == Algorithm::token_bucket;
    const bool window =
        algorithm == Algorithm::fixed_window || algorithm == Algorithm::attributed_window;
    const bool rejecting =
        algorithm == Algorithm::fixed_window || algorithm == Algorithm::sliding_log;
    const bool queues = algorithm == Algorithm::leaky_bucket;
    CHECK(refused({.burst = 1}, algorithm) == !bucket);
    CHECK(refused({.anchor = Anchor::first_request}, algorithm) == !window);
    CHECK(refused({.count_rejected = true}, algorithm) == !rejecting);
    CHECK(refused({.queue = 1}, algorithm) == !queues);
    CHECK(refused({.max_delay = seconds(1)}, algorithm) == !queues);
    const std::string tiers =
        problem_of({.algorithm = algorithm, .rates = {{10, seconds(1)}, {20, seconds(5)}}});
    CHECK(contains(tiers, "2 tiers") == (algorithm != Algorithm::sliding_window));
  }
  CHECK(contains(problem_of({.algorithm = Algorithm::sliding_window,
                             .rates = std::vector<Rate>(9, {1, seconds(1)})}),
                 "at most 8"));
  CHECK(problem_of({.algorithm = Algorithm::sliding_window,
                    .rates = std::vector<Rate>(8, {1, seconds(1)})})
            .empty());
}

TEST_CASE("policy: concurrency has a limit and no rate") {
  const Policy ten = policy_of({.algorithm = Algorithm::concurrency, .limit = 10});
  CHECK(ten.capacity == 10);
  CHECK(ten.rates == std::vector<Rate>{{10, seconds(1)}});
  CHECK(ten.refill == Duration{0});
  CHECK_FALSE(ten.count_rejected);
  const Policy three = policy_of({.algorithm = Algorithm::concurrency, .limit = 3});
  CHECK(three.interval_us == 333'333);
  CHECK(three.interval_remainder == 1);
  CHECK(to_string(Setting::limit) == "limit");
  const std::pair<Definition, const char*> refused[] = {
      {{.algorithm = Algorithm::concurrency}, "limit is missing"},
      {{.algorithm = Algorithm::concurrency, .limit = 0}, "limit is 0"},
      {{.algorithm = Algorithm::concurrency, .limit = huge}, "it must be between 1 and"},
      {{.algorithm = Algorithm::concurrency, .rates = {{1, seconds(1)}}, .limit = 1},
       "rate has no meaning for concurrency"},
      {{.algorithm = Algorithm::concurrency, .burst = 1, .limit = 1},
       "burst has no meaning for concurrency"},
      {{.algorithm = Algorithm::gcra, .rates = {{1, seconds(1)}}, .limit = 1},
       "limit has no meaning for gcra"},
  };
  for (const auto& [definition, problem] : refused) {
    INFO(problem);
    CHECK(contains(problem_of(definition), problem));
  }
}

}  // namespace weir::rules::test
