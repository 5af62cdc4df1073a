// Simulates deployments of Weir that no machine here can run (docs/scale.md): the rules, the chain
// and the leases of the program, in virtual time, before a modelled network and modelled masters.
//
// Prints one row of a table for each deployment. Exit code 1 if more was admitted than a limit
// allows.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/settings.hpp"
#include "simulation/world.hpp"

namespace {

using namespace weir::simulation;

/// The part of a master's time that its calls should take at most.
constexpr double planned_load = 0.7;

std::string text(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

/// 20k, 3M.
std::string short_text(double value) {
  if (value >= 1e6)
    return text(value / 1e6, value < 1e7 && std::fmod(value, 1e6) > 0 ? 1 : 0) + "M";
  if (value >= 1e4) return text(value / 1e3, 0) + "k";
  return text(value, 0);
}

void print_head() {
  std::puts(
      "| instances | of a key | start | requests/s | masters | keys | zipf | limit/s | leases | "
      "simulated | calls per "
      "decision | "
      "masters needed | busiest master | first key | added latency mean, µs | p50 | p99 | decided "
      "alone | "
      "unfairness largest | mean | stranded | over-admitted |");
  std::puts(
      "|--:|--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
}

/// Returns whether nothing was admitted beyond a limit.
bool run(const Settings& settings) {
  World world(settings);
  world.run();
  const Measures& measures = world.measures();
  const Counts total = measures.total();
  const double time = settings.seconds * second;
  const auto percent = [](double part) { return text(100 * part, 1) + " %"; };
  const double alone = total.alone / total.requests;
  const std::string needed = (alone > 0.001 ? "> " : "") +
                             text(std::max(std::ceil(total.work / time / planned_load), 1.0), 0);
  const auto unfairness = measures.unfairness();
  const std::int64_t excess = world.excess();
  const std::string columns[] = {
      std::to_string(settings.instances),
      settings.spread == 0 ? "all" : std::to_string(settings.spread),
      settings.starts_cold ? "cold" : "gradual",
      short_text(settings.requests),
      std::to_string(settings.masters),
      short_text(static_cast<double>(settings.keys)),
      text(settings.zipf, 1),
      short_text(static_cast<double>(world.limit())),
      settings.has_leases ? std::to_string(settings.share) + " %" : "off",
      percent(world.sample().rate() / settings.requests),
      text(total.calls / total.requests, 3),
      needed,
      percent(world.load().busiest),
      percent(measures.of_first_key().work / time),
      text(measures.latencies().mean_us(), 0),
      text(measures.latencies().quantile_us(0.5), 0),
      text(measures.latencies().quantile_us(0.99), 0),
      percent(alone),
      unfairness.largest < 0 ? "-" : percent(unfairness.largest),
      unfairness.largest < 0 ? "-" : percent(unfairness.mean),
      percent(measures.stranded() / static_cast<double>(world.limit())),
      std::to_string(excess),
  };
  for (const std::string& column : columns)
    std::printf("| %s ", column.c_str());
  std::puts("|");
  std::fflush(stdout);
  return excess == 0;
}

std::vector<Settings> default_rows() {
  std::vector<Settings> rows;
  const auto both = [&](Settings settings) {
    settings.has_leases = false;
    rows.push_back(settings);
    settings.has_leases = true;
    rows.push_back(settings);
  };
  both({.instances = 10, .requests = 1e3, .keys = 10'000});
  both({.instances = 10, .requests = 1e5, .masters = 4});
  both({.instances = 100, .requests = 1e6, .masters = 25});
  both({.instances = 100, .spread = 10, .requests = 1e6, .masters = 25});
  both({.instances = 1'000,
        .spread = 50,
        .requests = 1e7,
        .masters = 250,
        .keys = 10'000'000,
        .seconds = 0.5});
  rows.push_back(
      {.instances = 1'000, .requests = 1e7, .masters = 250, .keys = 10'000'000, .seconds = 0.5});
  both({.instances = 5'000,
        .spread = 50,
        .requests = 2e7,
        .masters = 500,
        .keys = 10'000'000,
        .seconds = 0.5});
  rows.push_back({.instances = 5'000,
                  .spread = 50,
                  .requests = 1e8,
                  .masters = 500,
                  .keys = 100'000,
                  .seconds = 0.3});
  // One key at 50 instances, far above its limit.
  for (const bool starts_cold : {false, true}) {
    rows.push_back({.instances = 50, .requests = 6e5, .keys = 1, .starts_cold = starts_cold});
  }
  return rows;
}

/// The short part that runs as a test.
std::vector<Settings> test_rows() {
  std::vector<Settings> rows;
  for (const bool has_leases : {false, true}) {
    for (const std::uint32_t instances : {10U, 100U}) {
      Settings settings;
      settings.instances = instances;
      settings.requests = 100'000;
      settings.masters = instances / 10;
      settings.keys = 10'000;
      settings.zipf = 1.2;
      settings.has_leases = has_leases;
      rows.push_back(settings);
    }
  }
  // More than the master can serve: late replies, requests that are decided alone.
  rows.push_back({.instances = 20, .requests = 200'000, .zipf = 0.8, .keys = 1'000'000});
  return rows;
}

[[noreturn]] void reject(std::string_view option) {
  std::fprintf(stderr, "simulate: %s: unknown option or value; see script/simulate --help\n",
               std::string(option).c_str());
  std::exit(2);
}

template <class Number>
void read(std::string_view option, std::string_view value, Number& number, Number least,
          Number most) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number >= least) ||
      !(number <= most))
    reject(option);
}

void apply(Settings& settings, std::string_view option, std::string_view value) {
  if (option == "--instances") return read(option, value, settings.instances, 1U, 10'000U);
  if (option == "--spread") return read(option, value, settings.spread, 0U, 10'000U);
  if (option == "--requests") return read(option, value, settings.requests, 1.0, 1e9);
  if (option == "--masters") return read(option, value, settings.masters, 1U, 1'000U);
  if (option == "--zipf") return read(option, value, settings.zipf, 0.0, 5.0);
  if (option == "--keys") return read<std::int64_t>(option, value, settings.keys, 1, 1'000'000'000);
  if (option == "--share") return read(option, value, settings.share, 1, 100);
  if (option == "--limit")
    return read<std::int64_t>(option, value, settings.limit, 1, 1'000'000'000);
  if (option == "--seconds") return read(option, value, settings.seconds, 0.1, 1e4);
  if (option == "--start" && (value == "cold" || value == "gradual")) {
    settings.starts_cold = value == "cold";
    return;
  }
  if (option == "--seed") return read<std::uint64_t>(option, value, settings.seed, 0, ~0ULL);
  if (option != "--leases" || (value != "on" && value != "off")) reject(option);
  settings.has_leases = value == "on";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  std::vector<Settings> rows;
  if (arguments.empty()) {
    rows = default_rows();
  } else if (arguments.size() == 1 && arguments[0] == "--test") {
    rows = test_rows();
  } else {
    if (arguments.size() % 2 != 0) reject(arguments.back());
    Settings& settings = rows.emplace_back();
    for (std::size_t i = 0; i < arguments.size(); i += 2)
      apply(settings, arguments[i], arguments[i + 1]);
  }
  print_head();
  bool is_exact = true;
  for (const Settings& settings : rows)
    is_exact = run(settings) && is_exact;
  if (!is_exact) std::fputs("simulate: more was admitted than a limit allows\n", stderr);
  return is_exact ? 0 : 1;
}
