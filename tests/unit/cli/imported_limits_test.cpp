// Files of envoyproxy/ratelimit as policies and descriptors: the text, and that it loads.
#include "cli/imported_limits.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

ImportedLimits import_of(const std::vector<std::string>& files) {
  std::vector<config::LimitFileContent> contents;
  for (const std::string& file : files) {
    contents.push_back(config::parse_limit_file(file));
    REQUIRE(contents.back().problems.empty());
  }
  return imported_limits(contents);
}

std::string imported(const std::vector<std::string>& files) {
  return import_of(files).yaml;
}

std::shared_ptr<const config::Config> load(const std::string& yaml) {
  INFO(yaml);
  const auto loaded = config::load_text(yaml, config::process_environment("x"));
  if (!loaded) FAIL(loaded.error().front().to_string());
  CHECK((*loaded)->presentation.warnings.empty());
  return *loaded;
}

const std::string limit = "rate_limit: {unit: minute, requests_per_unit: 5}";

/// The comments about the rules of a domain `d`.
std::string comments(const std::string& descriptors) {
  const std::string yaml = imported({"domain: d\ndescriptors: [" + descriptors + "]\n"});
  const std::size_t begin = yaml.find('\n') + 1;
  const std::size_t end = yaml.find("policies:\n");
  return end == std::string::npos ? yaml.substr(begin) : yaml.substr(begin, end - begin);
}

TEST_CASE("limits become policies and descriptors") {
  const std::string yaml = imported({R"(
domain: edge
descriptors:
- key: tenant
  value: acme
  descriptors:
  - {key: user, rate_limit: {unit: week, requests_per_unit: 7}}
- {key: path, value: "${HOME}", shadow_mode: true, rate_limit: {unit: month, requests_per_unit: 3}}
- {key: all, value: "*", share_threshold: true, rate_limit: {unit: year, requests_per_unit: 4}}
)",
                                     "domain: other\ndescriptors: [{key: a, " + limit + "}]\n"});
  CHECK(yaml == R"(# The limits of envoyproxy/ratelimit as policies of Weir.
policies:
  "edge.tenant_acme.user": {algorithm: fixed_window, rate: 7/7d, anchor: clock, count_rejected: true}
  "edge.path_$${HOME}": {algorithm: fixed_window, rate: 3/30d, anchor: clock, count_rejected: true, mode: shadow}
  "edge.all_*": {algorithm: fixed_window, rate: 4/365d, anchor: clock, count_rejected: true}
  "other.a": {algorithm: fixed_window, rate: 5/1m, anchor: clock, count_rejected: true}
rate_limit_service:
  charge: reference
  descriptors:
    - domain: "edge"
      entries: {"tenant": "acme", "user": "*"}
      policy: "edge.tenant_acme.user"
      key: ["user"]
    - domain: "edge"
      entries: {"path": "$${HOME}"}
      policy: "edge.path_$${HOME}"
    - domain: "edge"
      entries: {"all": "*"}
      policy: "edge.all_*"
    - domain: "other"
      entries: {"a": "*"}
      policy: "other.a"
      key: ["a"]
)");
}

TEST_CASE("what is printed loads") {
  const auto config =
      load(imported({"domain: \"d\\te\"\ndescriptors:\n- {key: a, value: \"é\", " + limit +
                     "}\n- {key: a, value: \"è\", " + limit +
                     "}\n- {key: " + std::string(200, 'k') + ", " + limit + "}\n"}));
  const auto& descriptors = config->rate_limit_service->descriptors;
  REQUIRE(descriptors.size() == 3);
  CHECK(config->rate_limit_service->charges_each);
  CHECK(descriptors[0].domain == "d\te");
  CHECK(descriptors[0].entries[0].value == "é");
  CHECK(config->limiter.policies[0].name == "d?e.a_??");
  CHECK(config->limiter.policies[1].name == "d?e.a_??#2");
  CHECK(descriptors[2].entries[0].key == std::string(200, 'k'));
  load(imported({"domain: d\n"}) + "routes: [{respond: {}}]\n");
}

TEST_CASE("a limit that cannot be written has a comment with the reason") {
  const std::string none = "# There is no limit that can be written as a policy.\n";
  const std::string in_two_orders =
      "not written: another descriptor has the same keys in another order, and policies match "
      "entries in any order\n";
  const std::string unlimited_d = "{key: d, value: x, rate_limit: {unlimited: true}}";
  const std::string no_unlimited =
      "d_x: not written: unlimited: a descriptor without a policy has no limit\n";
  const std::pair<std::string, std::string> rows[] = {
      {"{key: a, value: b*, " + limit + "}",
       "# d.a_b*: not written: a pattern is possible only as the whole value\n" + none},
      {"{key: a, rate_limit: {unlimited: true}}",
       "# d.a: not written: unlimited: a descriptor without a policy has no limit\n" + none},
      {"{key: a, rate_limit: {unit: day, requests_per_unit: 0}}",
       "# d.a: not written: requests_per_unit is 0, and a policy admits at least one request\n" +
           none},
      {"{key: a, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: x}]}}",
       "# d.a: not written: replaces has no counterpart\n" + none},
      {"{key: a, quota_mode: true, " + limit + "}",
       "# d.a: not written: quota_mode has no counterpart\n" + none},
      {"{key: a, descriptors: [{key: a, " + limit + "}]}",
       "# d.a.a: not written: an entry appears twice\n" + none},
      {"{key: a, metadata: {b: c}, " + limit + "}", "# d.a: written without its metadata\n"},
      {"{key: a, descriptors: [{key: b, " + limit + "}]}, {key: b, descriptors: [{key: a, " +
           limit + "}]}",
       "# d.a.b: " + in_two_orders + "# d.b.a: " + in_two_orders + none},
      {"{key: a, descriptors: [{key: b, " + limit +
           "}]}, {key: b, value: x, descriptors: [{key: a, value: one, " + limit + "}]}",
       "# d.a.b: " + in_two_orders + "# d.b_x.a_one: " + in_two_orders + none},
      {"{key: a, " + limit + "}, {key: a, value: '*', " + limit + "}",
       "# d.a: not written: it is never used, because a_* is looked up before\n"},
      // Keys and values with the separator.
      {"{key: a, value: b_c, " + limit + "}, {key: a_b, descriptors: [{key: c, " + limit + "}]}",
       "# d.a_b.c: not written: it must not count for a_b_c, which has no such limit\n"},
      {"{key: a, value: b_c, " + limit + "}, {key: a_d, descriptors: [{key: c, " + limit + "}]}",
       ""},
      {"{key: a_b, " + limit + "}, {key: a, value: b_c, " + limit + "}",
       "# d.a_b: not written: it must not count for a_b_c, which has a limit for another key\n"},
      {"{key: ab, " + limit + "}, {key: 'a*', " + limit + "}, {key: 'c*', " + limit + "}",
       "# d.ab: not written: it must not count for a*, which has a limit that is not written\n"
       "# d.a*: not written: a pattern is possible only as the whole value\n"
       "# d.c*: not written: a pattern is possible only as the whole value\n" +
           none},
      // A pattern that is later in the file than one for any value.
      {"{key: a, value: '*', " + limit + "}, {key: a, value: 'b*'}", ""},
      // A value that has no limit.
      {"{key: a, " + limit + "}, {key: a, value: b}",
       "# d.a: not written: it must not count for a_b, which has no such limit\n" + none},
      {"{key: a, " + limit + "}, {key: a, value: b*}",
       "# d.a: not written: it must not count for a_b*, which has no such limit\n" + none},
      {"{key: a, descriptors: [{key: c, " + limit +
           "}]}, {key: a, value: b, descriptors: [{key: "
           "d, " +
           limit + "}]}",
       "# d.a.c: not written: it must not count for a_b, which has no such limit\n"},
      // One whose own limit is not written, for whatever reason.
      {"{key: a, " + limit + "}, {key: a, value: b, rate_limit: {unlimited: true}}",
       "# d.a: not written: it must not count for a_b, which has a limit that is not written\n"
       "# d.a_b: not written: unlimited: a descriptor without a policy has no limit\n" +
           none},
      {"{key: a, descriptors: [{key: d, " + limit +
           "}]}, {key: a, value: b, descriptors: [{key: d, " + limit + "}, " + unlimited_d + "]}",
       "# d.a.d: not written: it must not count for a_b, which has a limit that is not written\n"
       "# d.a_b.d: not written: it must not count for d_x, which has a limit that is not written\n"
       "# d.a_b." +
           no_unlimited + none},
      // One that has its own.
      {"{key: a, " + limit + "}, {key: a, value: b, " + limit + "}", ""},
      {"{key: a, descriptors: [{key: c, " + limit +
           "}]}, {key: a, value: b, descriptors: [{key: c, " + limit + "}]}",
       ""},
  };
  for (const auto& [descriptors, expected] : rows) {
    CAPTURE(descriptors);
    CHECK(comments(descriptors) == expected);
  }
}

TEST_CASE("each limit that is left out has its place and the reason") {
  const auto made = import_of({"domain: c\ndescriptors: [{key: a, " + limit + "}]\n",
                               "domain: d\ndescriptors:\n"
                               "- {key: a, descriptors: [{key: b, " +
                                   limit +
                                   "}]}\n"
                                   "- {key: b, descriptors: [{key: a, " +
                                   limit +
                                   "}]}\n"
                                   "- {key: c, metadata: {e: f}, " +
                                   limit +
                                   "}\n"
                                   "- {key: u, rate_limit: {unlimited: true}}\n"});
  std::string text;
  for (const ImportLoss& loss : made.losses)
    text += std::to_string(loss.file) + (loss.is_limit ? " limit " : " part ") +
            loss.reason.to_string() + '\n';
  CHECK(text ==
        "1 limit 3:26: descriptors[0].descriptors[0]: the limit \"d.a.b\" is not written: another "
        "descriptor has the same keys in another order, and policies match entries in any order\n"
        "1 limit 4:26: descriptors[1].descriptors[0]: the limit \"d.b.a\" is not written: another "
        "descriptor has the same keys in another order, and policies match entries in any order\n"
        "1 part 5:3: descriptors[2]: the limit \"d.c\" is written without its metadata\n"
        "1 limit 6:3: descriptors[3]: the limit \"d.u\" is not written: unlimited: a descriptor "
        "without a policy has no limit\n");
}

}  // namespace
}  // namespace weir::cli
