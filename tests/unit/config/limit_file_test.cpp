// Files in the format of envoyproxy/ratelimit: those that are accepted, and the problems of others.
#include "config/limit_file.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace weir::config {
namespace {

using options::RateLimitUnit;

std::string reported(const std::vector<Diagnostic>& all) {
  std::string text;
  for (const Diagnostic& one : all)
    text += one.to_string() + '\n';
  return text;
}

LimitFileContent must_parse(const std::string& yaml) {
  LimitFileContent content = parse_limit_file(yaml);
  INFO(reported(content.problems));
  REQUIRE(content.problems.empty());
  return content;
}

/// The descriptor with these lines, which are its keys.
FileDescriptor only_descriptor(const std::string& keys) {
  return must_parse("domain: d\ndescriptors:\n- {" + keys + "}\n").descriptors.at(0);
}

TEST_CASE("descriptors and their limits are read") {
  const LimitFileContent content = must_parse(R"(
domain: edge
descriptors:
- key: tenant
  value: acme
  value_to_metric: true
  descriptors:
  - key: user
    detailed_metric: true
    rate_limit: {unit: Minute, requests_per_unit: 20, name: user, replaces: [{name: all}, {name: x}]}
    metadata: {owner: [a, 1, {deep: ~}]}
- key: path
  value: files/*
  share_threshold: true
  shadow_mode: true
  rate_limit: {unit: day, requests_per_unit: 1, name: x}
- {key: group, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 1, name: all}}
- {key: free, rate_limit: {unlimited: true}}
)");
  CHECK(content.warnings.empty());
  CHECK(content.domain == "edge");
  REQUIRE(content.descriptors.size() == 4);
  const FileDescriptor& tenant = content.descriptors[0];
  CHECK(tenant.text() == "tenant_acme");
  CHECK(tenant.value_to_metric);
  CHECK_FALSE(tenant.limit);
  REQUIRE(tenant.descriptors.size() == 1);
  const FileDescriptor& user = tenant.descriptors[0];
  CHECK(user.text() == "user");
  CHECK(user.path == "descriptors[0].descriptors[0]");
  CHECK(user.position.line == 8);
  CHECK(user.detailed_metric);
  REQUIRE(user.limit);
  CHECK(user.limit->unit == RateLimitUnit::minute);
  CHECK(user.limit->requests_per_unit == 20);
  CHECK(user.limit->name == "user");
  CHECK(user.limit->replaces == std::vector<std::string>{"all", "x"});
  CHECK(user.metadata == R"({"owner":["a",1,{"deep":null}]})");
  const FileDescriptor& path = content.descriptors[1];
  CHECK(path.text() == "path_files/*");
  CHECK(path.share_threshold);
  CHECK(path.shadow_mode);
  CHECK(content.descriptors[2].quota_mode);
  CHECK(content.descriptors[3].limit->unlimited);
}

TEST_CASE("values have the forms of YAML 1.1, and empty ones are absent") {
  const FileDescriptor some = only_descriptor(
      "key: 5, value: yes, shadow_mode: on, rate_limit: {unit: DAY, requests_per_unit: 0x10}");
  CHECK(some.text() == "5_yes");
  CHECK(some.shadow_mode);
  CHECK(some.limit->unit == RateLimitUnit::day);
  CHECK(some.limit->requests_per_unit == 16);
  const FileDescriptor empty = only_descriptor(
      "key: a, value: ~, rate_limit: ~, descriptors: ~, metadata: {}, shadow_mode: ~");
  CHECK(empty.text() == "a");
  CHECK_FALSE(empty.limit);
  CHECK(empty.metadata.empty());
  CHECK(only_descriptor("key: a, value: \"\"").value.empty());
  // No variable is replaced.
  CHECK(only_descriptor("key: a, value: \"${HOME}\"").value == "${HOME}");
  CHECK(must_parse("domain: d").descriptors.empty());
}

TEST_CASE("every unit has its name in any letter case") {
  const std::pair<const char*, RateLimitUnit> rows[] = {
      {"second", RateLimitUnit::second}, {"MINUTE", RateLimitUnit::minute},
      {"hOUR", RateLimitUnit::hour},     {"day", RateLimitUnit::day},
      {"week", RateLimitUnit::week},     {"Month", RateLimitUnit::month},
      {"year", RateLimitUnit::year}};
  for (const auto& [word, unit] : rows) {
    CAPTURE(word);
    const auto one = only_descriptor(
        std::string("key: a, rate_limit: {requests_per_unit: 1, unit: ") + word + "}");
    CHECK(one.limit->unit == unit);
  }
}

TEST_CASE("merge keys and deep trees are read") {
  const LimitFileContent content = must_parse(R"(
domain: d
descriptors:
- {key: a, rate_limit: &limit {unit: hour, requests_per_unit: 1}}
- {key: b, rate_limit: {<<: *limit, requests_per_unit: 2}}
)");
  CHECK(content.descriptors[1].limit->unit == RateLimitUnit::hour);
  CHECK(content.descriptors[1].limit->requests_per_unit == 2);
  std::string deep = "{key: a}";
  for (int i = 0; i < 40; ++i)
    deep = "{key: a, descriptors: [" + deep + "]}";
  must_parse("domain: d\ndescriptors: [" + deep + "]\n");
}

TEST_CASE("a file that envoyproxy/ratelimit refuses is refused, with the place and the fix") {
  const std::string head = "domain: d\ndescriptors:\n";
  // A file, and the start of its only problem.
  const std::pair<std::string, std::string> rows[] = {
      // The file as a whole.
      {"", "the file is empty; write domain: NAME"},
      {"'''", "1:1: not valid YAML: quoted text has no end"},
      {"- a", "1:1: expected a map with the keys domain and descriptors, found a list"},
      {"descriptors: []", "1:1: the domain is missing or empty; write that of Envoy's"},
      {"domain: ''", "1:9: domain: the domain is missing or empty"},
      {"domain: [a]", "1:10: domain[0]: expected a map"},
      {"domain: {key: a}", "1:9: domain: expected a text, found a map"},
      // Keys.
      {head + "- {key: a, ratelimit: {}}",
       "3:12: descriptors[0].ratelimit: unknown key \"ratelimit\"; did you mean \"rate_limit\"?"},
      {head + "- {key: a, rate_limit: {requestsperunit: 5}}",
       "3:25: descriptors[0].rate_limit.requestsperunit: unknown key \"requestsperunit\"; did you "
       "mean \"requests_per_unit\"?"},
      {"0.25: d", "1:1: \"0.25\": unknown key \"0.25\"; known here: domain, key, value"},
      {head + "- [a]",
       "3:3: descriptors[0]: expected a map, such as {key: remote_address}, found "
       "a list"},
      {head + "- a",
       "3:3: descriptors[0]: expected a map, such as {key: remote_address}, found a "
       "single value"},
      {"domain: d\ndescriptors: {key: a}", "2:14: descriptors: expected a list, found a map"},
      {"domain: d\ndescriptors: a", "2:14: descriptors: expected a list, found a single value"},
      // Keys and values.
      {head + "- {value: a}", "3:3: descriptors[0]: the descriptor has no key; write that of an"},
      {head + "- {key: ~}", "3:4: descriptors[0].key: the descriptor has no key"},
      {head + "- {key: a, value: 1.5}",
       "3:19: descriptors[0].value: a number with a fraction, or one that is too large, has no "
       "meaning here; put quotes around a text (here \"1.5\")"},
      {head + "- {key: a, value: b_c}\n- {key: a_b, value: c}",
       "4:3: descriptors[1]: the descriptor \"a_b_c\" is already on line 3; keep one"},
      {head + "- {key: a, share_threshold: true}",
       "3:29: descriptors[0].share_threshold: share_threshold needs a * in the value"},
      {head + "- {key: a, shadow_mode: 1}",
       "3:25: descriptors[0].shadow_mode: expected true or false (here \"1\")"},
      {head + "- {key: a, metadata: [b]}",
       "3:22: descriptors[0].metadata: expected a map, such as {owner: billing}, found a list"},
      {head + "- {key: a, metadata: {b: .nan}}",
       "3:26: descriptors[0].metadata: JSON does not have the number \".nan\""},
      {head + "- {key: a, metadata: {b: " + std::string(32, '[') + std::string(32, ']') + "}}",
       "3:22: descriptors[0].metadata: metadata has at most 32 levels of lists and maps"},
      // Limits.
      {head + "- {key: a, rate_limit: b}",
       "3:24: descriptors[0].rate_limit: expected a map, such as {unit: minute"},
      {head + "- {key: a, rate_limit: {unit: foo, requests_per_unit: 5}}",
       "3:31: descriptors[0].rate_limit.unit: expected a unit: second, minute, hour, day, week, "
       "month or year (here \"foo\")"},
      {head + "- {key: a, rate_limit: {unit: unknown, requests_per_unit: 5}}",
       "3:31: descriptors[0].rate_limit.unit: expected a unit"},
      {head + "- {key: a, rate_limit: {requests_per_unit: 5}}",
       "3:24: descriptors[0].rate_limit: the limit has no unit; write second, minute, hour, day, "
       "week, month or year, such as unit: minute"},
      {head + "- {key: a, rate_limit: {unit: , requests_per_unit: 5}}",
       "3:25: descriptors[0].rate_limit.unit: the limit has no unit"},
      {head + "- {key: a, rate_limit: {unlimited: true, unit: day}}",
       "3:48: descriptors[0].rate_limit.unit: an unlimited descriptor has no unit"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: -1}}",
       "3:55: descriptors[0].rate_limit.requests_per_unit: expected a number from 0 to 4294967295"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: 4294967296}}",
       "3:55: descriptors[0].rate_limit.requests_per_unit: expected a number"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: '5'}}",
       "3:55: descriptors[0].rate_limit.requests_per_unit: expected a number"},
      {head + "- {key: a, rate_limit: {unit: second, requests_per_unit: 0.5}}",
       "3:58: descriptors[0].rate_limit.requests_per_unit: expected a whole number; write a longer "
       "unit with more requests, such as {unit: minute, requests_per_unit: 30} for one request in "
       "two seconds (here \"0.5\")"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: 1e+12}}",
       "3:55: descriptors[0].rate_limit.requests_per_unit: expected a number from 0 to 4294967295 "
       "(here \"1e+12\")"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: 5, replaces: [{name: }]}}",
       "3:70: descriptors[0].rate_limit.replaces[0].name: the entry has no name; write that of"},
      {head + "- {key: a, rate_limit: {unit: day, requests_per_unit: 5, name: b, replaces: [{name: "
              "b}]}}",
       "3:85: descriptors[0].rate_limit.replaces[0].name: the limit replaces itself; remove it"},
  };
  for (const auto& [yaml, problem] : rows) {
    CAPTURE(yaml, problem);
    const std::string found = reported(parse_limit_file(yaml).problems);
    CHECK(found.substr(0, problem.size()) == problem);
    CHECK(std::ranges::count(found, '\n') == 1);
  }
}

TEST_CASE("what has no effect is accepted with a warning") {
  const LimitFileContent content = must_parse(R"(
domain: d
descriptors:
- {key: a, unit: day, rate_limit: {shadow_mode: true, unit: day}}
- {key: b, domain: x, rate_limit: {unlimited: true, unit: foo}}
)");
  CHECK(reported(content.warnings) ==
        "4:18: descriptors[0].unit: has no effect here; write it in rate_limit\n"
        "4:35: descriptors[0].rate_limit: without requests_per_unit every request is denied; write "
        "it, or remove rate_limit\n"
        "4:49: descriptors[0].rate_limit.shadow_mode: has no effect here; write it in the "
        "descriptor\n"
        "5:20: descriptors[1].domain: has no effect here; write it in the top level of the file\n"
        "5:59: descriptors[1].rate_limit.unit: has no effect: the descriptor is unlimited\n");
}

TEST_CASE("a flag that only a limit can have is a warning without one") {
  const std::string no_limit =
      "has no effect: the descriptor has no rate_limit; write it at those that have one";
  const std::string unlimited = "has no effect: the descriptor is unlimited";
  const std::string day = "rate_limit: {unit: day, requests_per_unit: 1}";
  // A descriptor, and its warnings.
  const std::pair<std::string, std::string> rows[] = {
      {"quota_mode: true", "3:24: descriptors[0].quota_mode: " + no_limit + '\n'},
      {"metadata: {a: b}, descriptors: [{key: b, " + day + "}]",
       "3:22: descriptors[0].metadata: " + no_limit + '\n'},
      {"shadow_mode: on", "3:25: descriptors[0].shadow_mode: " + no_limit + '\n'},
      {"detailed_metric: true", "3:29: descriptors[0].detailed_metric: " + no_limit + '\n'},
      {"rate_limit: {unlimited: true}, metadata: {a: b}",
       "3:53: descriptors[0].metadata: " + unlimited + '\n'},
      {"rate_limit: {unlimited: true}, quota_mode: true",
       "3:55: descriptors[0].quota_mode: " + unlimited + '\n'},
      {"shadow_mode: true, quota_mode: true, " + day,
       "3:43: descriptors[0].quota_mode: has no effect: with shadow_mode the limit never denies; "
       "remove one of them\n"},
      // With an effect, and off.
      {"quota_mode: true, metadata: {a: b}, detailed_metric: true, " + day, ""},
      {"quota_mode: false, shadow_mode: no, metadata: {}, value_to_metric: true", ""},
  };
  for (const auto& [keys, expected] : rows) {
    CAPTURE(keys);
    CHECK(reported(must_parse("domain: d\ndescriptors:\n- {key: a, " + keys + "}\n").warnings) ==
          expected);
  }
}

TEST_CASE("a name in replaces that no other limit of the file has is a warning") {
  const auto warnings = [](const std::string& name, const std::string& other) {
    return reported(
        must_parse("domain: d\ndescriptors:\n"
                   "- {key: a, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: " +
                   name + "}]}}\n- {key: b, descriptors: [{key: c, rate_limit: {" + other +
                   "}}]}\n")
            .warnings);
  };
  const std::string named = "unit: day, requests_per_unit: 1, name: total";
  CHECK(warnings("total", named).empty());
  CHECK(warnings("totl", named) ==
        "3:76: descriptors[0].rate_limit.replaces[0].name: has no effect: no limit of this file "
        "has the name \"totl\"; did you mean \"total\"?\n");
  CHECK(warnings("all", named)
            .ends_with(
                "has the name \"all\"; write it as name in the rate_limit that is replaced\n"));
  // An unlimited descriptor limits nothing that could be replaced.
  CHECK(warnings("total", "unlimited: true, name: total").find("no limit of this file") !=
        std::string::npos);
}

}  // namespace
}  // namespace weir::config
