#include "unit/store/node_simulation.hpp"

#include <algorithm>

#include "catch.hpp"

namespace weir::store::test {
namespace {

using namespace std::chrono_literals;
using Options = NodeSimulation::Options;

double per_second(const std::vector<Duration>& durations) {
  Duration sum{0};
  for (const Duration duration : durations)
    sum += duration;
  return static_cast<double>(durations.size()) / std::chrono::duration<double>(sum).count();
}

}  // namespace

TEST_CASE("At twice its capacity the server is used, and the share decided alone is stable") {
  const auto [service, workers] = GENERATE(table<Duration, int>({
      {435us, 4},
      {435us, 2},
      {50us, 4},
      {50us, 8},
  }));
  CAPTURE(to_us(service), workers);
  const double capacity = per_second({service});
  NodeSimulation run(
      Options{.workers = workers, .service = {service}, .requests_per_second = 2 * capacity});
  run.run();
  const std::size_t settled = 5;  // samples
  const auto total = run.total(settled);
  const double seconds = 4.5;
  CHECK(total.asked >= 0.95 * capacity * seconds);
  CHECK(total.too_late <= 0.01 * total.requests());
  const double mean = static_cast<double>(total.fallbacks()) / total.requests();
  const auto samples = run.samples();
  for (std::size_t i = settled; i + 1 < samples.size(); ++i) {
    const double share = static_cast<double>(samples[i].fallbacks()) / samples[i].requests();
    CHECK(std::abs(share - mean) < 0.15);
  }
}

TEST_CASE("With the recorded latencies of a busy machine the capacity is used too") {
  const std::string name = GENERATE("quiet", "fork", "slow_commands");
  CAPTURE(name);
  const auto service = recorded_durations(name);
  REQUIRE(service.size() >= 4'000);
  const double capacity = per_second(service);
  // The server is faster at some times than on average, so it needs more to be busy always.
  NodeSimulation run(Options{.service = service, .requests_per_second = 4 * capacity});
  run.run();
  CHECK(run.use() >= 0.9);
  const auto total = run.total();
  CHECK(total.asked >= 0.85 * capacity * 5);
  CHECK(total.too_late <= 0.1 * total.asked);
}

TEST_CASE("At a moderate load hardly a request is decided alone") {
  const std::string name = GENERATE("quiet", "slow_commands");
  CAPTURE(name);
  const auto service = recorded_durations(name);
  NodeSimulation run(Options{.service = service, .requests_per_second = 0.3 * per_second(service)});
  run.run();
  const auto total = run.total();
  CHECK(total.fallbacks() <= 0.01 * total.requests());
}

TEST_CASE("A stall refuses no request once it is over") {
  const Duration stall = GENERATE(20ms, 30ms, 60ms, 200ms, 1s, 3s);
  CAPTURE(to_us(stall));
  NodeSimulation run(
      Options{.service = {50us}, .requests_per_second = 10'000, .stalls = {{1s, stall}}});
  run.run();
  const auto [first, last] = run.fallback_span();
  if (stall <= 20ms) {  // less than the timeout
    CHECK(run.total().fallbacks() == 0);
    return;
  }
  CHECK(first >= Instant{} + 1s - 1ms);  // one that was in flight
  CHECK(last <= Instant{} + 1s + stall + 10ms);
  // Those in flight when the silence is noticed, and no more.
  CHECK(run.total().too_late <= 10'000 * 0.030);
}

TEST_CASE("Short stalls twice a second cost only their own time") {
  Options options{.service = {50us}, .requests_per_second = 10'000};
  for (Duration at = 250ms; at < 5s; at += 500ms)
    options.stalls.emplace_back(at, 30ms);
  NodeSimulation run(options);
  run.run();
  const auto total = run.total();
  CHECK(total.fallbacks() <= 0.06 * total.requests());
}

TEST_CASE("With a tenth of a processor the calls grow, and few of the answers are late") {
  // The server works 1 ms in each 10 ms. A call costs it 25 us, and 4 us for each of its questions.
  Options options{.service = {4us}, .call = 25us};
  for (Duration at = 1ms; at < 5s; at += 10ms)
    options.stalls.emplace_back(at, 9ms);
  const double capacity_alone = 100 / 0.029;
  // As multiples of what the server can decide if each call has one question.
  const auto [workers, pass, load, least_decided] = GENERATE(table<int, Duration, double, double>({
      {2, 0us, 2, 0.9},  // no joined calls
      {2, 0us, 20, 0.9},
      {2, 300us, 2, 1.6},  // nearly all
      {2, 300us, 10, 3},
      {2, 1ms, 20, 4.5},  // calls of 32 reach 5.8
      {8, 1ms, 20, 3},
  }));
  CAPTURE(workers, to_us(pass), load);
  options.workers = workers;
  options.pass = pass;
  options.requests_per_second = load * capacity_alone;
  NodeSimulation run(options);
  run.run();
  const std::size_t settled = 5;  // samples
  const auto total = run.total(settled);
  const double seconds = 4.5;
  CHECK(total.asked >= least_decided * capacity_alone * seconds);
  CHECK(total.too_late <= 0.01 * total.requests());
}

TEST_CASE("If few requests arrive in a pass of the loop, the calls grow because questions gather") {
  Options options{.workers = 2, .service = {4us}, .call = 25us};
  for (Duration at = 1ms; at < 5s; at += 10ms)
    options.stalls.emplace_back(at, 9ms);
  const double capacity_alone = 100 / 0.029;
  const auto [pass, load, most_without, least] = GENERATE(table<Duration, double, double, double>({
      {20us, 20, 1.5, 2.5},
      {20us, 40, 1.7, 3.3},
      {50us, 20, 2.2, 2.9},
  }));
  CAPTURE(to_us(pass), load);
  options.pass = pass;
  options.requests_per_second = load * capacity_alone;
  const auto decided = [&](bool gather) {
    options.gather = gather;
    NodeSimulation run(options);
    run.run();
    CHECK(run.total(5).too_late == 0);
    return run.total(5).asked / (capacity_alone * 4.5);
  };
  CHECK(decided(false) <= most_without);
  CHECK(decided(true) >= least);
}

TEST_CASE("With little load no question gathers") {
  Options options{.workers = 2,
                  .service = {4us},
                  .requests_per_second = 5'000,
                  .network = 100us,
                  .pass = 20us,
                  .call = 25us};
  NodeSimulation with(options);
  with.run();
  options.gather = false;
  NodeSimulation without(options);
  without.run();
  CHECK(with.use() == without.use());
}

TEST_CASE("A server that is far away is used as one nearby") {
  NodeSimulation run(Options{.service = {50us}, .requests_per_second = 10'000, .network = 20ms});
  run.run();
  CHECK(run.total().fallbacks() == 0);
}

}  // namespace weir::store::test
