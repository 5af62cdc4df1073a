// `plans`, `plan_from` and `default_plan`.
#include <sstream>

#include "catch.hpp"
#include "source_directory.hpp"
#include "unit/config/files.hpp"

namespace weir::config {
namespace {

using test::Files;
using test::warnings_of;

constexpr std::string_view policies =
    "policies:\n"
    "  p: {algorithm: gcra, rate: 10/1s}\n"
    "  b: {algorithm: token_bucket, rate: 10/1s, burst: 3}\n"
    "  s: {algorithm: sliding_window, rates: [10/1s, 100/1m]}\n"
    "  l: {algorithm: leaky_bucket, rate: 10/1s, queue: 5, max_delay: 1s}\n";
constexpr std::string_view route =
    "routes: [{respond: {}, limits: [{policy: p}, {policy: b}, {policy: s}, {policy: l}]}]\n";

std::string with(std::string_view plans) {
  return std::string(policies) + std::string(plans) + "\n" + std::string(route);
}

TEST_CASE("a plan replaces the numbers that it sets") {
  const auto config = test::must_load(
      with("plans:\n"
           "  free: {}\n"
           "  gold: {p: {rate: 60/1m}, b: {rate: 20/1s}, s: {rate: 7/1h}, l: {queue: 9}}\n"
           "  more: {p: {burst: 2}, b: {burst: 8}, s: {rates: [1/1s, 5/1m]}, l: {rate: 5/1s}}\n"
           "  none: {p: unlimited}\n"
           "default_plan: gold\n"));
  CHECK(config->limiter.plans.names == std::vector<std::string>{"free", "gold", "more", "none"});
  CHECK(config->limiter.plans.default_plan == 1);
  const auto numbers = [&](std::size_t policy, std::size_t plan) -> const rules::Policy& {
    const auto* const planned = config->limiter.policies[policy].under(plan);
    REQUIRE(planned != nullptr);
    REQUIRE_FALSE(planned->unlimited);
    return planned->terms.numbers;
  };
  using rules::Rate;
  constexpr Duration s = std::chrono::seconds(1), m = std::chrono::minutes(1);
  CHECK(config->limiter.policies[0].under(0) == nullptr);
  CHECK(numbers(0, 1).rates == std::vector<Rate>{{60, m}});
  CHECK(numbers(0, 1).capacity == 60);
  CHECK(config->limiter.policies[0].under(1)->terms.policy_item == "\"p\";q=60;w=60");
  CHECK(numbers(0, 2).rates == std::vector<Rate>{{10, s}});
  CHECK(numbers(0, 2).capacity == 2);
  CHECK(numbers(1, 1).capacity == 3);
  CHECK(numbers(1, 1).rates == std::vector<Rate>{{20, s}});
  CHECK(numbers(1, 2).capacity == 8);
  CHECK(numbers(2, 1).rates == std::vector<Rate>{{7, 60 * m}});
  CHECK(numbers(2, 2).rates == std::vector<Rate>{{1, s}, {5, m}});
  CHECK(numbers(3, 1).queue == 9);
  CHECK(numbers(3, 1).max_delay == s);
  CHECK(numbers(3, 2).queue == 5);
  CHECK(config->limiter.policies[0].under(3)->unlimited);
}

TEST_CASE("a plan changes the limit of concurrency, and nothing else of it") {
  const auto under_plan = [](std::string_view numbers) {
    return "policies:\n"
           "  slots: {algorithm: concurrency, limit: 3, queue: 8}\n"
           "  p: {algorithm: gcra, rate: 10/1s}\n"
           "plans: {gold: {" +
           std::string(numbers) +
           "}}\n"
           "default_plan: gold\n"
           "routes: [{respond: {}, limits: [{policy: slots}, {policy: p}]}]\n";
  };
  const auto config = test::must_load(under_plan("slots: {limit: 50}"));
  const limiter::Policy& slots = config->limiter.policies[0];
  REQUIRE(slots.under(0) != nullptr);
  CHECK(slots.under(0)->terms.numbers ==
        rules::compile({.algorithm = rules::Algorithm::concurrency, .limit = 50}).value());
  CHECK(slots.under(0)->terms.policy_item == "\"slots\";q=50;qu=\"concurrent-requests\"");
  CHECK(slots.queue == 8);
}

TEST_CASE("conditions name plans") {
  const std::string with_plans = "policies: {p: {rate: 1/1s}}\nplans: {a: {}, b: {}}\n";
  const auto config = test::must_load(
      with_plans +
      "default_plan: a\n"
      "routes: [{respond: {}, limits: [{policy: p, when: {plan: [b, a]}, unless: {plan: [b]}}]}]");
  const limiter::Limit& limit = config->proxy.routes[0].limits[0];
  CHECK(limit.when->plans == std::vector<std::size_t>{1, 0});
  CHECK(limit.unless->plans == std::vector<std::size_t>{1});
  CHECK(test::problems_of(with_plans +
                          "routes: [{respond: {}, limits: [{policy: p, when: {plan: [c]}}]}]") ==
        "3:59: routes[0].limits[0].when.plan[0]: no plan is called \"c\"; known here: a, b\n");
  CHECK(test::problems_of(with_plans +
                          "routes: [{respond: {}, limits: [{policy: p, when: {plan: a}}]}]") ==
        "3:58: routes[0].limits[0].when.plan: expected a list of plans, such as [gold], found a "
        "single value\n");
}

TEST_CASE("plans that are probably mistakes are warned of") {
  CHECK(warnings_of(with("plans: {a: {}, b: {}}\ndefault_plan: b")) ==
        std::vector<std::string>{
            "6:12: plans.a: never in force: plan_from has no source that could name it"});
  CHECK(warnings_of(with("plans: {a: {}}\nplan_from: [{header: x-plan}]")) ==
        std::vector<std::string>{
            "7:22: plan_from[0].header: never read: a field names a plan only if it comes from a "
            "trusted proxy, and client_address.trusted_proxies is empty"});
  CHECK(warnings_of("policies: {p: {rate: 9/1s}}\nplans: {a: {p: {rate: 4/1s}}}\ndefault_plan: a\n"
                    "routes: [{respond: {}, limits: [{policy: p, cost: 5}]}]") ==
        std::vector<std::string>{
            "4:51: routes[0].limits[0].cost: a cost of 5 could never pass under the plan \"a\": it "
            "has at most 4 of the policy \"p\""});
}

TEST_CASE("a file gives plans to identities") {
  const Files files;
  files.write("plans.tsv", "alice\tgold\nbob\tplatinum\n");
  const std::string yaml =
      "identities: {user: {header: x-user}}\n"
      "plans: {free: {}, gold: {}}\n"
      "plan_from: [{file: plans.tsv, key: user}]\n"
      "routes: [{respond: {}}]\n";
  const auto config = load_text(yaml, files.environment()).value();
  REQUIRE(config->plan_files.size() == 1);
  CHECK(config->plan_files[0].path == files.path("plans.tsv"));
  const auto& source = std::get<limiter::PlanFromFile>(config->limiter.plans.sources.at(0).from);
  CHECK(config->limiter.identities[source.identity].name == "user");
  CHECK(source.table.current().size() == 2);
  const auto plan_of = [&](const char* value) {
    return source.table.current().find(
        identity::keys_of(config->limiter.identities[source.identity].source, value,
                          {.client = config->proxy.client_address}, config->limiter.identity_key)
            .at(0));
  };
  CHECK(plan_of("alice") == 1);
  CHECK(plan_of("bob") == limiter::PlanTable::unknown);
  REQUIRE(config->presentation.warnings.size() == 1);
  CHECK(config->presentation.warnings[0].to_string() ==
        "3:20: plan_from[0].file: file \"" + files.path("plans.tsv") +
            "\" line 2: no plan is called \"platinum\", so the default counts");

  files.write("plans.tsv", "s3cr3t gold\nalice\tgold\nalice\tfree\n");
  const std::string problems = test::problems_of(yaml, files.environment());
  CHECK(problems == "3:20: plan_from[0].file: file \"" + files.path("plans.tsv") +
                        "\" line 1: expected an identity, a TAB and the name of a plan\n" +
                        "3:20: plan_from[0].file: file \"" + files.path("plans.tsv") +
                        "\" line 3: an earlier line has another plan for this identity; keep one "
                        "of them\n");
}

TEST_CASE("a file of plans is read with the secret that the process runs with") {
  const Files files;
  files.write("plans.tsv", "192.0.2.1\tgold\n");
  const std::string yaml =
      "plans: {gold: {}}\nplan_from: [{file: plans.tsv, key: client}]\nroutes: [{respond: {}}]\n";
  Environment environment = files.environment();
  const auto running = load_text("identity_secret: the first of two secrets\n" + yaml, environment);
  environment.running = running.value().get();
  const auto next = load_text("identity_secret: the second of two secrets\n" + yaml, environment);
  CHECK(next.value()->plan_files[0].table.current() ==
        running.value()->plan_files[0].table.current());
  environment.running = nullptr;
  const auto other = load_text("identity_secret: the second of two secrets\n" + yaml, environment);
  CHECK_FALSE(other.value()->plan_files[0].table.current() ==
              running.value()->plan_files[0].table.current());
}

TEST_CASE("the path of a file of plans is not shown if it comes from a variable") {
  const Files files;
  const std::string yaml =
      "plans: {gold: {}}\nplan_from: [{file: \"${PLANS}\", key: client}]\n"
      "routes: [{respond: {}}]\n";
  const std::string problems =
      test::problems_of(yaml, files.environment({{"PLANS", "s3cr3t.tsv"}}));
  CHECK(problems ==
        "2:20: plan_from[0].file: cannot read file \"${PLANS}\": No such file or "
        "directory; check the path, and in a container that the file is mounted\n");
}

TEST_CASE("numbers from variables are not shown in problems of plans") {
  const std::string problems = test::problems_of(with("plans: {a: {b: {rate: \"${RATE}\"}}}"),
                                                 test::environment({{"RATE", "1/25999d"}}));
  CHECK(problems.find("25999") == std::string::npos);
  CHECK(problems.find("burst ... would take") != std::string::npos);
}

TEST_CASE("the list of docs/plans.md loads with its examples") {
  std::ostringstream content;
  content << std::ifstream(WEIR_SOURCE_DIR "/docs/plans.md").rdbuf();
  const std::string text = content.str();
  const Files files;
  const std::string fence = "```\n# customers\n";
  const std::size_t list = text.find(fence) + 4;
  files.write("plans.tsv", text.substr(list, text.find("```", list) - list));
  int examples = 0;
  for (std::size_t at = text.find("```yaml\n"); at != std::string::npos;
       at = text.find("```yaml\n", at + 1)) {
    const std::string yaml = text.substr(at + 8, text.find("```\n", at + 8) - at - 8);
    CAPTURE(yaml);
    ++examples;
    const Loaded loaded = load_text(yaml, files.environment());
    INFO((loaded ? "" : loaded.error()[0].to_string()));
    REQUIRE(loaded.has_value());
    if (!(*loaded)->plan_files.empty()) CHECK((*loaded)->plan_files[0].table.current().size() == 2);
  }
  CHECK(examples == 2);
}

}  // namespace
}  // namespace weir::config
