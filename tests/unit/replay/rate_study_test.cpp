// Other rates and suggestions are those of replays with these rates.
#include "replay/rate_study.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "catch.hpp"
#include "config/load.hpp"
#include "replay/report_words.hpp"
#include "replay/run.hpp"
#include "seed.hpp"

namespace weir::replay {
namespace {

struct StudiedPolicy {
  std::string name;
  std::string before;  ///< its rate in the configuration
  std::string rate;
  std::string after;
};

const std::vector<StudiedPolicy> studied_policies{
    {"burst", "{algorithm: gcra, ", "rate: 3/1s", ", burst: 12}"},
    {"bucket", "{algorithm: token_bucket, ", "rate: 20/10s", "}"},
    {"window", "{algorithm: sliding_window, ", "rate: 7/5s", "}"},
    {"hour", "{algorithm: fixed_window, ", "rate: 40/1m", ", anchor: clock}"},
    {"failures", "{algorithm: sliding_log, ", "rate: 5/10s", "}"},
    {"queue", "{algorithm: leaky_bucket, ", "rate: 2/1s", ", max_delay: 3s}"},
    {"strict", "{algorithm: fixed_window, ", "rate: 9/10s", ", count_rejected: true}"},
    {"slots", "{algorithm: concurrency, ", "limit: 3", "}"}};

/// The configuration with only these policies, at these rates.
std::shared_ptr<const config::Config> study_config(const std::vector<StudiedPolicy>& policies) {
  std::string text =
      "listen: [{address: \"127.0.0.1:1\"}]\n"
      "identities: {client: {client_address: {}}, agent: {header: user-agent}}\n"
      "policies:\n";
  const auto has = [&](std::string_view name) {
    return std::ranges::find(policies, name, &StudiedPolicy::name) != policies.end();
  };
  for (const StudiedPolicy& one : policies)
    text += "  " + one.name + ": " + one.before + one.rate + one.after + "\n";
  text += "routes:\n";
  const auto add_route = [&](std::string_view path,
                             std::vector<std::pair<std::string, std::string>> limits) {
    text += "  - match: {path: " + std::string(path) + "}\n    respond: {status: 200}\n";
    std::string list;
    for (const auto& [policy, rest] : limits) {
      if (has(policy)) list += (list.empty() ? "" : ", ") + ("{policy: " + policy + rest + "}");
    }
    if (!list.empty()) text += "    limits: [" + list + "]\n";
  };
  add_route("/a", {{"burst", ", key: client"},
                   {"bucket", ", key: agent"},
                   {"bucket", ", key: client, cost: 2"},
                   {"hour", ", key: client"}});
  add_route("/b",
            {{"window", ", key: client"}, {"strict", ", key: agent"}, {"slots", ", key: client"}});
  add_route("/c", {{"failures", ", key: client, charge: {status: [401]}"},
                   {"queue", ", key: client"},
                   {"burst", ", key: client"}});
  return config::load_text(
             text, {.variable = [](const std::string&) { return std::nullopt; }, .directory = {}})
      .value();
}

std::vector<Arrival> random_arrivals(std::mt19937_64& random, int count) {
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  std::vector<Arrival> arrivals;
  std::int64_t at_ms = 1'700'000'000'000;
  for (int i = 0; i < count; ++i) {
    at_ms += below(40) == 0 ? below(30'000) : below(300);
    const std::string target = "/" + std::string(1, static_cast<char>('a' + below(3)));
    // Few clients send most of the requests.
    const int client = std::min(below(60), below(60)) / (below(3) + 1);
    const std::string agent = "agent" + std::to_string(below(4));
    LoggedRequest logged{.at = Instant{std::chrono::milliseconds(at_ms)},
                         .client = IpAddress::parse("192.0.2." + std::to_string(client)),
                         .method = "GET",
                         .target = target,
                         .status = below(3) == 0 ? 401 : 200,
                         .user_agent = agent};
    if (below(2) == 0) logged.duration = std::chrono::milliseconds(below(4000));
    fill(arrivals.emplace_back(), logged, "localhost");
  }
  return arrivals;
}

Report replayed(const std::vector<StudiedPolicy>& policies, const std::vector<Arrival>& arrivals,
                std::optional<std::int64_t> max_denied = {}) {
  const auto config = study_config(policies);
  Run run(config->proxy, config->limiter, {}, {.max_denied = max_denied});
  for (const Arrival& arrival : arrivals)
    run.receive(arrival);
  run.finish();
  return run.report(10);
}

RateLadder::Denials denials_of(const Report& report, std::string_view policy) {
  RateLadder::Denials denials;
  for (const RouteReport& one : report.routes) {
    if (one.policy == policy) denials.requests += one.use.denied;
  }
  for (const PolicyReport& one : report.policies) {
    if (one.policy == policy) denials.keys = one.denied_keys;
  }
  return denials;
}

StudiedPolicy with_rate(StudiedPolicy policy, std::int64_t count, bool drops_burst = false) {
  const bool is_slots = policy.name == "slots";
  const std::string per = is_slots ? "" : policy.rate.substr(policy.rate.find('/'));
  policy.rate = (is_slots ? "limit: " : "rate: ") + std::to_string(count) + per;
  if (drops_burst) policy.after = "}";
  return policy;
}

bool suffices(const RateLadder::Denials& denials, const Suggestion& of, std::int64_t max_denied) {
  return static_cast<std::int64_t>(denials.requests * 1'000'000) <=
             static_cast<std::int64_t>(of.requests) * max_denied &&
         static_cast<std::int64_t>(denials.keys * 1'000'000) <=
             static_cast<std::int64_t>(of.keys) * max_denied;
}

}  // namespace

TEST_CASE("other rates deny what replays of the policy alone deny at these rates") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  const auto arrivals = random_arrivals(random, 1500);
  const Report report = replayed(studied_policies, arrivals, 0);
  REQUIRE(report.rates.size() == studied_policies.size() + 1);  // one has a burst
  for (const PolicyRates& rates : report.rates) {
    CAPTURE(rates.policy, rates.drops_burst);
    const auto studied = std::ranges::find(studied_policies, rates.policy, &StudiedPolicy::name);
    REQUIRE(studied != studied_policies.end());
    CHECK(std::ranges::count(rates.rates, std::optional<std::string>("x2"), &RateReport::times) ==
          (rates.drops_burst ? 0 : 1));
    for (const RateReport& one : rates.rates) {
      const std::int64_t count = one.limit ? *one.limit : one.rates[0].count;
      if (count > 300) continue;
      CAPTURE(count);
      const Report alone = replayed({with_rate(*studied, count, rates.drops_burst)}, arrivals);
      CHECK(denials_of(alone, rates.policy) ==
            RateLadder::Denials{.requests = one.denied, .keys = one.denied_keys});
    }
  }
}

TEST_CASE("the suggested rate is the smallest round one that denies few enough") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  for (const std::int64_t max_denied : {0, 20'000, 200'000}) {
    CAPTURE(max_denied);
    const auto arrivals = random_arrivals(random, 1200);
    const Report report = replayed(studied_policies, arrivals, max_denied);
    REQUIRE(report.suggestions->policies.size() == studied_policies.size());
    std::vector<StudiedPolicy> all;
    for (std::size_t i = 0; i < studied_policies.size(); ++i) {
      const Suggestion& suggestion = report.suggestions->policies[i];
      CAPTURE(suggestion.policy);
      // By brute force.
      std::optional<std::int64_t> smallest;
      for (const bool drops_burst : {false, true}) {
        if (drops_burst && (smallest || suggestion.policy != "burst")) break;
        for (const std::int64_t count : round_counts(3000)) {
          const StudiedPolicy policy = with_rate(studied_policies[i], count, drops_burst);
          if (!suffices(denials_of(replayed({policy}, arrivals), policy.name), suggestion,
                        max_denied))
            continue;
          smallest = count;
          CHECK(suggestion.drops_burst == drops_burst);
          all.push_back(policy);
          break;
        }
      }
      REQUIRE(suggestion.rate.has_value() == smallest.has_value());
      if (!smallest) continue;
      CHECK(with_rate(studied_policies[i], *smallest).rate == setting_of(*suggestion.rate));
      CHECK(suggestion.smaller.has_value() == (*smallest > 1));
      if (suggestion.smaller)
        CHECK_FALSE(suffices(
            {.requests = suggestion.smaller->denied, .keys = suggestion.smaller->denied_keys},
            suggestion, max_denied));
    }
    // With all of them at once no policy denies more: each is asked for fewer units.
    if (max_denied > 0) continue;
    const Report together = replayed(all, arrivals);
    CHECK(together.outcomes.denied == 0);
  }
}

TEST_CASE("numbers of a plan are decided apart") {
  const auto config =
      config::load_text(
          R"(listen: [{address: "127.0.0.1:1"}]
client_address: {trusted_proxies: [0.0.0.0/0]}
identities: {agent: {header: user-agent}}
plans: {gold: {p: {rate: 4/1m}}, free: {p: unlimited}}
plan_from: [{header: referer}]
policies: {p: {algorithm: gcra, rate: 1/1m, burst: 2}, slots: {algorithm: concurrency, limit: 3}}
routes: [{respond: {status: 200}, limits: [{policy: p, key: agent}, {policy: slots, key: agent}]}]
)",
          {.variable = [](const std::string&) { return std::nullopt; }, .directory = {}})
          .value();
  Run run(config->proxy, config->limiter, {}, {.max_denied = 0});
  for (const std::string_view plan : {"", "gold", "free"}) {
    for (int i = 0; i < 5; ++i) {
      Arrival arrival;
      fill(arrival,
           {.at = Instant{std::chrono::seconds(1'700'000'000)},
            .client = IpAddress::parse("192.0.2.1"),
            .method = "GET",
            .target = "/",
            .referer = plan,
            .user_agent = "a"},
           "localhost");
      run.receive(arrival);
    }
  }
  run.finish();
  const Report report = run.report(10);
  REQUIRE(report.rates.size() == 4);
  CHECK((!report.rates[0].plan && report.rates[2].plan == "gold"));
  CHECK((report.rates[1].drops_burst && report.rates[3].drops_burst));
  CHECK((report.rates[0].requests == 5 && report.rates[2].requests == 5));
  // The plan has no burst of its own, so that of the policy stays.
  CHECK(report.rates[2].rates[0].burst == 2);
  CHECK(report.rates[2].rates[0].denied == 3);
  CHECK(report.suggestions->without_durations == std::vector<std::string>{"slots"});
  REQUIRE(report.suggestions->policies.size() == 2);
  CHECK(report.suggestions->policies[0].drops_burst);
  CHECK(report.suggestions->policies[0].rate->rates[0].count == 5);
}

}  // namespace weir::replay
