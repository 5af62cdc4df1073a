// `weir explain --domain`: which limits a call of the rate limit service has, and what they answer.
#include "cli/explained_call.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "cli/descriptor_arguments.hpp"
#include "rls/descriptor_rules.hpp"
#include "unit/config/files.hpp"

namespace weir::cli {
namespace {

using config::test::Files;
using Descriptors = std::vector<std::vector<std::string>>;

const Instant at = instant_from_us(1'700'000'010'000'000);  // 30 s before a minute ends

constexpr auto limit_file = R"(
domain: edge
descriptors:
- key: path
  rate_limit: {unit: minute, requests_per_unit: 100}
- key: path
  value: /files/*
  share_threshold: true
  rate_limit: {unit: minute, requests_per_unit: 10, name: files}
- key: path
  value: /login
  descriptors:
  - {key: user, rate_limit: {unit: minute, requests_per_unit: 1, replaces: [{name: files}]}}
  - {key: user, value: root, rate_limit: {unlimited: true}}
- {key: closed, rate_limit: {unit: day, requests_per_unit: 0}}
- {key: watched, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 0}}
)";

constexpr auto call_yaml = R"(
identities: {api_key: {header: x-api-key}}
policies: {per_key: {algorithm: gcra, rate: 10/1s}}
plans: {gold: {per_key: {rate: 20/1s}}}
default_plan: gold
rate_limit_service:
  files: [edge.yaml]
  descriptors:
  - {domain: edge, entries: {api_key: "*"}, policy: per_key, key: [api_key], identity: api_key}
)";

struct Explained {
  std::shared_ptr<const config::Config> config;
  Explanation explanation;
};

Explained explained_call(const Descriptors& descriptors, const std::string& domain = "edge") {
  const Files files;
  files.write("edge.yaml", limit_file);
  const auto config = config::test::must_load(call_yaml, files.environment());
  const CallArguments arguments{.domain = domain, .descriptors = descriptors};
  const auto call = read_call(arguments);
  REQUIRE(call.has_value());
  return {config, explain_call(*config, *call, at)};
}

TEST_CASE("the text of a call has the way to its limit and no value of an entry") {
  const auto made = explained_call({{"path=/login", "user=s3cret"}});
  std::string hash;
  append_hex(hash, *made.explanation.limits.at(0).identity.hash);
  CHECK(to_text(made.explanation) ==
        "domain      edge\n"
        "descriptor  path, user\n"
        "  matches   path_/login > user; the last descriptor has a rate_limit\n"
        "  status    OK, 0 remaining\n"
        "\n"
        "limit       edge.path_/login.user: fixed_window 1/1m, 1 at once (from the\n"
        "            policy)\n"
        "  applies   yes: the rate_limit of descriptor 1\n"
        "  key       descriptor (entries of descriptor 1) hash\n            " +
            hash +
            "\n"
            "  cost      1\n"
            "  answer    allowed, 0 remaining, all of it again after 30.0 s\n"
            "\n"
            "verdict     allowed: OK\n");
}

TEST_CASE("the key is that of the service") {
  const auto key_of = [](const Descriptors& descriptors) {
    const auto made = explained_call(descriptors);
    return made.explanation.limits.at(0).identity.hash.value();
  };
  const SipKey key = sip_key_from_secret({});
  const std::vector<std::string> texts{"path=/files/*"};
  const auto entries = read_entries_of(texts).value();
  CHECK(key_of({{"path=/files/7"}}) ==
        identity::key_of_entries(entries, rls::configured_kind, key));
  CHECK(key_of({{"path=/a"}}) != key_of({{"path=/b"}}));
}

TEST_CASE("a descriptor without a limit has the reason") {
  const struct {
    Descriptors descriptors;
    const char* because;
  } rows[] = {
      {{{"other=x"}}, "no descriptor of a file matches the entry \"other\""},
      {{{"path=/login", "group=x"}},
       "no descriptor of a file matches the entry \"group\" after \"path_/login\""},
      {{{"path=/login"}}, "the descriptor \"path_/login\" has no rate_limit"},
      {{{"path=/login", "user=root"}}, "the rate_limit is unlimited"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.because);
    const auto made = explained_call(row.descriptors);
    CHECK(made.explanation.limits.empty());
    CHECK(made.explanation.call->descriptors.at(0).because == row.because);
    CHECK(made.explanation.verdict.outcome == "allowed");
  }
  const auto root = explained_call({{"path=/login", "user=root"}});
  CHECK(to_text(root.explanation).find("  status    OK, unlimited\n") != std::string::npos);
  CHECK(explained_call({{"path=/"}}, "egde").explanation.call->descriptors.at(0).because ==
        "no limit has this domain; did you mean \"edge\"?");
}

TEST_CASE("limits of several descriptors, and those that are replaced") {
  const auto made = explained_call({{"path=/files/a"}, {"path=/login", "user=u"}, {"api_key=k"}});
  const auto& limits = made.explanation.limits;
  REQUIRE(limits.size() == 3);
  CHECK(limits[0].policy->name == "edge.path_/files/*");
  CHECK_FALSE(limits[0].decision);
  CHECK(limits[0].because == "another limit of the call has its name in replaces");
  CHECK(limits[1].descriptor == 1);
  CHECK(limits[1].decision->remaining == 0);
  CHECK(limits[2].policy->name == "per_key");
  CHECK(limits[2].identity.name == "api_key");
  CHECK(limits[2].numbers_from == "plan");
  CHECK(limits[2].numbers.capacity == 20);
  CHECK(limits[2].because == "rate_limit_service.descriptors for descriptor 3");
  const std::string json = to_json(made.explanation);
  CHECK(json.find("\"entries\": \"path, user\"") != std::string::npos);
  CHECK(json.find("\"descriptor\": 1") != std::string::npos);
  CHECK(json.find("\"limit_remaining\": 0") != std::string::npos);
  CHECK(json.find("/login\"") != std::string::npos);
}

TEST_CASE("a limit of no requests denies") {
  const auto closed = explained_call({{"closed=x"}});
  CHECK(closed.explanation.verdict.outcome == "denied");
  CHECK(closed.explanation.verdict.detail == "OVER_LIMIT by edge.closed");
  const std::string text = to_text(closed.explanation);
  CHECK(text.find("edge.closed: fixed_window denied (from the file)\n") != std::string::npos);
  CHECK(text.find("  answer    denied, requests_per_unit is 0\n") != std::string::npos);
  CHECK(text.find("  status    OVER_LIMIT, 0 remaining\n") != std::string::npos);
  CHECK(explained_call({{"watched=x"}}).explanation.verdict.outcome == "shadow_denied");
}

TEST_CASE("overrides of a key apply to a call") {
  const Files files;
  files.write("edge.yaml", limit_file);
  const auto config = config::test::must_load(call_yaml, files.environment());
  const CallArguments arguments{.domain = "edge", .descriptors = {{"path=/x"}}};
  const auto call = read_call(arguments).value();
  const Explanation plain = explain_call(*config, call, at);
  const std::vector<KnownOverrides> overrides{
      {.identity = *plain.limits.at(0).identity.hash,
       .entries = {{.kind = store::Override::Kind::denied}}}};
  const Explanation denied = explain_call(*config, call, at, overrides);
  CHECK(denied.limits.at(0).is_denied);
  CHECK(denied.limits.at(0).numbers_from == "override");
  CHECK(denied.verdict.outcome == "denied");
}

TEST_CASE("wrong arguments of a call are refused without their values") {
  const struct {
    CallArguments arguments;
    const char* problem;
  } rows[] = {
      {{.domain = "", .descriptors = {{"a=b"}}}, "--domain: the domain is missing"},
      {{.domain = "d"}, "--descriptor: write at least one, such as"},
      {{.domain = "d", .descriptors = {{"s3cret"}}},
       "--descriptor: expected an entry KEY=VALUE, such as remote_address=192.0.2.1"},
      {{.domain = "d", .descriptors = {{"a=b", "=s3cret"}}}, "--descriptor: expected an entry"},
      {{.domain = "d", .descriptors = {std::vector<std::string>(65, "a=b")}},
       "--descriptor: more than 64 entries of a descriptor"},
      {{.domain = "d", .descriptors = Descriptors(65, {"a=b"})}, "--descriptor: more than 64"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.problem);
    const auto call = read_call(row.arguments);
    REQUIRE_FALSE(call.has_value());
    CHECK(call.error().message.starts_with(row.problem));
  }
  const std::vector<std::string> texts{"a=", "b=c=d"};
  const auto entries = read_entries_of(texts).value();
  CHECK(entries[0].value.empty());
  CHECK(entries[1].value == "c=d");
}

}  // namespace
}  // namespace weir::cli
