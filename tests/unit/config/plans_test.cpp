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

std::string plan_problems(std::string_view plans) {
  return test::problems_of(with(plans));
}

TEST_CASE("a plan replaces the numbers that it sets") {
  const auto config = test::must_load(
      with("plans:\n"
           "  free: {}\n"
           "  gold: {p: {rate: 60/1m}, b: {rate: 20/1s}, s: {rate: 7/1h}, l: {queue: 9}}\n"
           "  more: {p: {burst: 2}, b: {burst: 8}, s: {rates: [1/1s, 5/1m]}, l: {rate: 5/1s}}\n"
           "  none: {p: unlimited}\n"
           "default_plan: gold\n"));
  CHECK(config->plans.names == std::vector<std::string>{"free", "gold", "more", "none"});
  CHECK(config->plans.default_plan == 1);
  const auto numbers = [&](std::size_t policy, std::size_t plan) -> const rules::Policy& {
    const auto* const planned = config->policies[policy].under(plan);
    REQUIRE(planned != nullptr);
    REQUIRE_FALSE(planned->unlimited);
    CHECK(planned->terms.numbers == planned->terms.local_numbers);
    return planned->terms.numbers;
  };
  using rules::Rate;
  constexpr Duration s = std::chrono::seconds(1), m = std::chrono::minutes(1);
  CHECK(config->policies[0].under(0) == nullptr);
  CHECK(numbers(0, 1).rates == std::vector<Rate>{{60, m}});
  CHECK(numbers(0, 1).capacity == 60);
  CHECK(config->policies[0].under(1)->terms.policy_item == "\"p\";q=60;w=60");
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
  CHECK(config->policies[0].under(3)->unlimited);
}

TEST_CASE("problems of plans are reported where they are") {
  struct Row {
    const char* plans;
    const char* problem;
  };
  const auto row = GENERATE(values<Row>({
      {"plans: {a: {pp: {rate: 1/1s}}}",
       "6:17: plans.a.pp: no policy is called \"pp\"; known here: p, b, s, l\n"},
      {"plans: {a: {p: {rate: 0/1s}}}",
       "6:23: plans.a.p.rate: the rate's count is 0: it must be at least 1\n"},
      {"plans: {a: {s: {burst: 4}}}",
       "6:24: plans.a.s.burst: burst has no meaning for sliding_window: remove it, or use gcra or "
       "token_bucket\n"},
      {"plans: {a: {p: {queue: 4}}}",
       "6:24: plans.a.p.queue: queue has no meaning for gcra: remove it, or use leaky_bucket\n"},
      {"plans: {a: {p: {rates: [1/1s, 2/1m]}}}",
       "6:24: plans.a.p.rates: rates has 2 tiers, gcra takes one: keep one, or use "
       "sliding_window\n"},
      {"plans: {a: {p: {rate: 1/1s, rates: [1/1s]}}}",
       "6:36: plans.a.p.rates: rate and rates exclude each other; keep one\n"},
      {"plans: {a: {b: {rate: 1/26000d}}}",
       "6:16: plans.a.b: burst 3 would take more than 71 years to refill at this rate: use at most "
       "1\n"},
      {"plans: {a: {p: {}}}",
       "6:16: plans.a.p: no number is given; write one, such as rate: 100/1m, or leave the policy "
       "out of the plan\n"},
      {"plans: {a: {p: 5/1s}}",
       "6:16: plans.a.p: expected unlimited, or numbers such as {rate: 6000/1m}\n"},
      {"plans: {a: {p: [unlimited]}}",
       "6:16: plans.a.p: expected unlimited, or numbers such as {rate: 6000/1m}\n"},
      {"plans: {a: {p: {algorithm: gcra}}}",
       "6:17: plans.a.p.algorithm: unknown key \"algorithm\"; a plan changes numbers; the "
       "algorithm is that of the policy\n"},
      {"plans: {a: p}",
       "6:12: plans.a: expected a map of policies to their numbers, such as {per_user: {rate: "
       "6000/1m}}, or {}, found a single value\n"},
      {"plans: {a: {}}\ndefault_plan: b",
       "7:15: default_plan: no plan is called \"b\"; known here: a\n"},
      {"default_plan: b",
       "6:15: default_plan: no plan is called \"b\"; none is defined; write plans: {NAME: {}}, and "
       "its NAME here\n"},
      {"plan_from: [{header: x-plan}]",
       "6:12: plan_from: no plan is defined; add plans, or remove plan_from\n"},
      {"plans: {a: {}}\nplan_from: []",
       "7:12: plan_from: expected a list of sources, such as [{header: x-plan}], found an empty "
       "list\n"},
      {"plans: {a: {}}\nplan_from: [{header: x plan}]",
       "7:22: plan_from[0].header: expected a name of letters, digits and -, such as x-plan (here "
       "\"x plan\")\n"},
      {"plans: {a: {}}\nplan_from: [{}]",
       "7:13: plan_from[0]: expected one source: {jwt: {provider: NAME, claim: NAME}}, {header: "
       "NAME}, or {file: NAME, key: IDENTITY}\n"},
      {"plans: {a: {}}\nplan_from: [{header: x, file: f, key: client}]",
       "7:13: plan_from[0]: expected one source: {jwt: {provider: NAME, claim: NAME}}, {header: "
       "NAME}, or {file: NAME, key: IDENTITY}\n"},
      {"plans: {a: {}}\nplan_from: [{header: x, key: client}]",
       "7:30: plan_from[0].key: only with file: the value of this source is the plan's name; "
       "remove it\n"},
      {"plans: {a: {}}\nplan_from: [{jwt: {provider: idp, claim: plan}}]",
       "7:30: plan_from[0].jwt.provider: no JWT provider is called \"idp\"; none is defined; write "
       "jwt_providers: {NAME: {algorithms: [RS256], jwks: {url: URL}}}, and its NAME here\n"},
      {"plans: {a: {}}\nplan_from: [{file: f}]",
       "7:13: plan_from[0]: the key \"key\" is missing: name the identity that the file's lines "
       "begin with\n"},
      {"plans: {a: {}}\nplan_from: [{file: f, key: user}]",
       "7:28: plan_from[0].key: no identity is called \"user\"; known here: client\n"},
      {"plans: {a: {}}\nplan_from: [{file: /no-such-file, key: client}]",
       "7:20: plan_from[0].file: cannot read file \"/no-such-file\": No such file or directory; "
       "check the path, and in a container that the file is mounted\n"},
  }));
  CAPTURE(row.plans);
  CHECK(plan_problems(row.plans) == row.problem);
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
  const limiter::Policy& slots = config->policies[0];
  REQUIRE(slots.under(0) != nullptr);
  CHECK(slots.under(0)->terms.numbers ==
        rules::compile({.algorithm = rules::Algorithm::concurrency, .limit = 50}).value());
  CHECK(slots.under(0)->terms.policy_item == "\"slots\";q=50;qu=\"concurrent-requests\"");
  CHECK(slots.queue == 8);
  struct Row {
    const char* numbers;
    const char* problem;
  };
  const auto row = GENERATE(values<Row>({
      {"slots: {queue: 4}",
       "4:31: plans.gold.slots.queue: a plan cannot change the queue of a concurrency policy, only "
       "its limit; write queue and max_wait in the policy\n"},
      {"slots: {limit: 4, max_wait: 1s}",
       "4:34: plans.gold.slots.max_wait: unknown key \"max_wait\"; a plan changes numbers; write "
       "queue and max_wait in the policy\n"},
      {"slots: {rate: 4/1s}",
       "4:30: plans.gold.slots.rate: rate has no meaning for concurrency: give limit, the units in "
       "flight at once\n"},
      {"slots: {limit: 0}",
       "4:31: plans.gold.slots.limit: expected a whole number from 1 to 9007199254740992 (here "
       "\"0\")\n"},
      {"slots: {limit: 4503599627370496}",
       "4:31: plans.gold.slots.limit: limit is 4503599627370496: it must be between 1 and "
       "4503599627370495\n"},
      {"p: {limit: 4}",
       "4:27: plans.gold.p.limit: limit has no meaning for gcra: remove it, or use concurrency\n"},
  }));
  CAPTURE(row.numbers);
  CHECK(test::problems_of(under_plan(row.numbers)) == row.problem);
}

TEST_CASE("conditions name plans") {
  const std::string with_plans = "policies: {p: {rate: 1/1s}}\nplans: {a: {}, b: {}}\n";
  const auto config = test::must_load(
      with_plans +
      "default_plan: a\n"
      "routes: [{respond: {}, limits: [{policy: p, when: {plan: [b, a]}, unless: {plan: [b]}}]}]");
  const limiter::Limit& limit = config->routes[0].limits[0];
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
  const auto& source = std::get<limiter::PlanFromFile>(config->plans.sources.at(0).from);
  CHECK(config->identities[source.identity].name == "user");
  CHECK(source.table.current().size() == 2);
  const auto plan_of = [&](const char* value) {
    return source.table.current().find(identity::keys_of(config->identities[source.identity].source,
                                                         value, {.client = config->client_address},
                                                         config->identity_key)
                                           .at(0));
  };
  CHECK(plan_of("alice") == 1);
  CHECK(plan_of("bob") == limiter::PlanTable::unknown);
  REQUIRE(config->warnings.size() == 1);
  CHECK(config->warnings[0].to_string() ==
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
