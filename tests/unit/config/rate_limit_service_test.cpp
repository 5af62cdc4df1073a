// `rate_limit_service`: its listeners, the policies of its files, and its descriptors.
#include <string>

#include "catch.hpp"
#include "unit/config/files.hpp"

namespace weir::config {
namespace {

using options::Serves;
using test::Files;
using test::must_load;
using test::problems_of;

std::vector<std::string> addresses_of(const Config& config) {
  constexpr std::string_view names[] = {" proxy", " service", " both"};
  std::vector<std::string> all;
  for (std::size_t i = 0; i < config.listen.size(); ++i) {
    const options::Listen& one = config.listen[i];
    all.push_back(config.listener_path(i) + ' ' + one.address.to_string() +
                  std::string(names[static_cast<std::size_t>(one.serves)]));
  }
  return all;
}
using Addresses = std::vector<std::string>;

const std::string a_descriptor = "descriptors: [{domain: d, entries: {a: \"*\"}, policy: p}]";
const std::string a_policy = "policies: {p: {algorithm: gcra, rate: 1/1s}}\n";

std::string service(const std::string& keys) {
  return a_policy + "rate_limit_service: {" + a_descriptor + keys + "}\n";
}

TEST_CASE("the service has its own listeners, or shares those of the proxy") {
  CHECK(addresses_of(*must_load(service(""))) ==
        Addresses{"rate_limit_service.listen[0] 127.0.0.1:8081 service"});
  CHECK(addresses_of(*must_load(service("") + test::route_tail)) ==
        Addresses{"listen[0] 0.0.0.0:8080 proxy",
                  "rate_limit_service.listen[0] 127.0.0.1:8081 service"});
  const auto config = must_load(
      "listen: [{address: \"127.0.0.1:1\", http2: false}, {address: \"127.0.0.1:2\"}]\n" +
      service(", listen: [{address: \"127.0.0.1:3\", http2: false}, {address: \"127.0.0.1:2\"}, "
              "{address: \"unix:/x\"}]"));
  CHECK(addresses_of(*config) == Addresses{"listen[0] 127.0.0.1:1 proxy",
                                           "listen[1] 127.0.0.1:2 both",
                                           "rate_limit_service.listen[0] 127.0.0.1:3 service",
                                           "rate_limit_service.listen[2] unix:/x service"});
  CHECK_FALSE(config->listen[2].http2);
  CHECK(config->listen[3].http2);
  CHECK(config->presentation.positions.problem("rate_limit_service.listen[0].address", "x").line ==
        3);
}

TEST_CASE("the settings of the service have defaults, and are read") {
  const auto least =
      must_load("retry_after: http_date\n" + service(""))->rate_limit_service.value();
  CHECK(least.algorithm == rules::Algorithm::fixed_window);
  CHECK_FALSE(least.charges_each);
  CHECK(least.headers.standard);
  CHECK(least.headers.legacy == http::LegacyFields::ratelimit);
  CHECK(least.headers.retry_after == http::RetryAfterForm::http_date);
  const auto other =
      must_load(service(", algorithm: gcra, charge: reference, headers: {standard: false, legacy: "
                        "x_ratelimit}"))
          ->rate_limit_service.value();
  CHECK(other.algorithm == rules::Algorithm::gcra);
  CHECK(other.charges_each);
  CHECK_FALSE(other.headers.standard);
  CHECK(other.headers.legacy == http::LegacyFields::x_ratelimit);
  CHECK_FALSE(must_load(test::route_tail)->rate_limit_service);
}

TEST_CASE("descriptors name policies, entries and an identity") {
  const auto config = must_load(R"(
identities: {user: {header: x-user}}
policies: {p: {algorithm: gcra, rate: 1/1s}, q: {algorithm: fixed_window, rate: 1/1s}}
rate_limit_service:
  descriptors:
  - {domain: d, entries: {a: "*", b: x}, policy: q, key: [a, b]}
  - {domain: d, entries: {a: "*", b: y}, policy: p, key: [a], identity: user}
  - {domain: d, entries: {a: "*"}, policy: p}
)");
  CHECK(config->presentation.warnings.empty());
  const auto& all = config->rate_limit_service->descriptors;
  REQUIRE(all.size() == 3);
  CHECK(all[0] == options::PolicyDescriptor{.domain = "d",
                                            .entries = {{"a", std::nullopt}, {"b", "x"}},
                                            .policy = 1,
                                            .key = {"a", "b"}});
  CHECK(config->limiter.identities[all[1].identity.value()].name == "user");
  CHECK(all[2].key.empty());
}

// Files.

const std::string files_section = "rate_limit_service: {files: [\"*.yaml\"]";

/// Loads with the file as the only one.
std::shared_ptr<const Config> load_with(const std::string& file, const std::string& keys = "",
                                        const std::string& more = "") {
  const Files files;
  files.write("a.yaml", file);
  return must_load(more + files_section + keys + "}\n", files.environment());
}

TEST_CASE("each limit of a file is a policy with its full key as its name") {
  const auto config = load_with(R"(
domain: edge
descriptors:
- key: tenant
  value: acme
  descriptors:
  - {key: user, rate_limit: {unit: week, requests_per_unit: 7}, metadata: {a: 1}}
- {key: path, value: /ü*, share_threshold: true, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 5}}
- {key: free, rate_limit: {unlimited: true, name: n, replaces: [{name: m}]}}
- {key: group, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 9, name: m}}
)");
  CHECK(config->presentation.warnings.empty());
  const auto& policies = config->limiter.policies;
  REQUIRE(policies.size() == 4);
  CHECK(policies[3].name == "stated_limit");
  CHECK(config->rate_limit_service->stated_policy == 3);
  CHECK(config->limiter.identities.back().name == "descriptor");
  CHECK(config->rate_limit_service->identity + 1 == config->limiter.identities.size());
  CHECK(policies[0].name == "edge.tenant_acme.user");
  CHECK(policies[0].name_item == "\"edge.tenant_acme.user\"");
  CHECK(policies[0].policy_item == "\"edge.tenant_acme.user\";q=7;w=604800");
  CHECK(policies[0].visible);
  CHECK_FALSE(policies[0].lease);
  CHECK(policies[0].definition == rules::Definition{.algorithm = rules::Algorithm::fixed_window,
                                                    .rates = {{7, std::chrono::hours(7 * 24)}},
                                                    .anchor = rules::Anchor::clock});
  CHECK(policies[1].name == "edge.path_/%C3%BC*");
  CHECK(policies[1].shadow);
  CHECK_FALSE(policies[1].visible);
  CHECK(policies[2].shadow);

  const auto& domains = config->rate_limit_service->domains;
  REQUIRE(domains.size() == 1);
  CHECK(domains[0].name == "edge");
  REQUIRE(domains[0].descriptors.size() == 4);
  const options::DescriptorNode& tenant = domains[0].descriptors[0];
  CHECK(tenant.text == "tenant_acme");
  CHECK(tenant.key == "tenant");
  CHECK_FALSE(tenant.limit);
  CHECK(tenant.children.at(0).limit ==
        options::DescriptorLimit{.policy = 0,
                                 .requests_per_unit = 7,
                                 .unit = options::RateLimitUnit::week,
                                 .metadata = "{\"a\":1}"});
  CHECK(domains[0].descriptors[1].share_threshold);
  CHECK(domains[0].descriptors[2].limit ==
        options::DescriptorLimit{.name = "n", .replaces = {"m"}});
  CHECK(domains[0].descriptors[3].limit->quota_mode);
}

const std::string one_limit =
    "domain: d\ndescriptors: [{key: a, rate_limit: {unit: second, requests_per_unit: 10}}]\n";

TEST_CASE("the algorithm and the charge decide the definition of the policies") {
  const auto definition = [](const std::string& keys) {
    return load_with(one_limit, keys)->limiter.policies.at(0).definition;
  };
  const std::vector<rules::Rate> rates{{10, std::chrono::seconds(1)}};
  CHECK(definition(", charge: reference") ==
        rules::Definition{.algorithm = rules::Algorithm::fixed_window,
                          .rates = rates,
                          .anchor = rules::Anchor::clock,
                          .count_rejected = true});
  CHECK(definition(", algorithm: gcra, charge: reference") ==
        rules::Definition{.algorithm = rules::Algorithm::gcra, .rates = rates});
  CHECK(definition(", algorithm: sliding_window") ==
        rules::Definition{.algorithm = rules::Algorithm::sliding_window, .rates = rates});
}

TEST_CASE("a limit of no requests keeps a policy that must not be charged") {
  const auto config = load_with(
      "domain: d\ndescriptors: [{key: a, rate_limit: {unit: second, requests_per_unit: 0}}]\n");
  const options::DescriptorLimit limit =
      config->rate_limit_service->domains[0].descriptors[0].limit.value();
  CHECK(limit.denies_all);
  CHECK(limit.policy == 0);
  CHECK(limit.requests_per_unit == 0);
  CHECK(config->limiter.policies[0].numbers.capacity == 1);
  CHECK(config->limiter.policies[0].on_failure == limiter::OnFailure::deny);
}

TEST_CASE("plans, denied and store apply to the policies of files") {
  const auto config = load_with(one_limit, "",
                                "plans: {gold: {d.a: {rate: 99/1s}}}\ndefault_plan: gold\n"
                                "denied: {status: 503, body: busy}\n"
                                "store: {redis: {on_failure: allow}}\n");
  const limiter::Policy& policy = config->limiter.policies.at(0);
  CHECK(policy.planned.at(0).terms.numbers.capacity == 99);
  CHECK(policy.status == 503);
  CHECK(policy.denial.bodies.at(0).text == "busy");
  CHECK(policy.on_failure == limiter::OnFailure::allow);
}

TEST_CASE("an instance without a share of a limit denies while Redis is down") {
  const auto config =
      load_with(one_limit, "",
                "identity_secret: 0123456789abcdef0123456789abcdef\n"
                "store: {type: redis, redis: {url: \"redis://x\", replicas: 11}}\n");
  CHECK(config->limiter.policies.at(0).on_failure == limiter::OnFailure::deny);
  REQUIRE(config->presentation.warnings.size() == 1);
  CHECK(config->presentation.warnings[0].message.find(
            "column 36: descriptors[0].rate_limit: has fewer requests than store.redis.replicas") !=
        std::string::npos);
}

TEST_CASE("with shadow_mode no limit of a file or of a request denies") {
  for (const bool is_on : {true, false}) {
    const auto config = load_with(one_limit, is_on ? ", shadow_mode: true" : "");
    for (const limiter::Policy& policy : config->limiter.policies) {
      CHECK(policy.shadow == is_on);
      CHECK(policy.visible != is_on);
    }
    CHECK(config->rate_limit_service->domains.at(0).descriptors.at(0).limit->shadow_mode == is_on);
  }
}

TEST_CASE("the flags of metrics with values of requests are read, without a warning") {
  const auto config = load_with(R"(
domain: d
descriptors:
- {key: a, detailed_metric: true, rate_limit: {unit: day, requests_per_unit: 1}}
- {key: a, value: "b*", value_to_metric: true, rate_limit: {unit: day, requests_per_unit: 1}}
)",
                                ", reference_metrics: true");
  CHECK(config->presentation.warnings.empty());
  const auto& nodes = config->rate_limit_service->domains.at(0).descriptors;
  CHECK(nodes.at(0).limit->detailed_metric);
  CHECK_FALSE(nodes.at(0).value_to_metric);
  CHECK(nodes.at(1).value_to_metric);
}

TEST_CASE("names of policies from files are unique") {
  const auto config = load_with(R"(
domain: d
descriptors:
- {key: a, descriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 1}}]}
- {key: a.b, rate_limit: {unit: day, requests_per_unit: 2}}
)");
  CHECK(config->limiter.policies.at(0).name == "d.a.b");
  CHECK(config->limiter.policies.at(1).name == "d.a.b#2");
}

TEST_CASE("patterns match files in order, each once, and their content is part of the digest") {
  const Files files;
  std::filesystem::create_directory(files.path("limits"));
  std::filesystem::create_directory(files.path("limits/x.yaml"));
  files.write("limits/b.yaml", "domain: b\n");
  files.write("limits/a.yaml", "domain: a\n");
  files.write("limits/.hidden.yaml", "domain: hidden\n");
  const std::string yaml = "rate_limit_service: {files: [limits/b.yaml, \"limits/*.yaml\"]}\n";
  const auto before = must_load(yaml, files.environment());
  const auto& domains = before->rate_limit_service->domains;
  REQUIRE(domains.size() == 2);
  CHECK(domains[0].name == "b");
  CHECK(domains[1].name == "a");
  REQUIRE(before->limit_files.size() == 2);
  CHECK(before->limit_files[1].path == files.path("limits/a.yaml"));
  CHECK(before->limit_files[1].stamp == stamp_of(files.path("limits/a.yaml")));
  files.write("limits/a.yaml", "domain: c\n");
  const auto after = must_load(yaml, files.environment());
  CHECK(changed_keys(before->key_digests, after->key_digests) ==
        std::vector<std::string>{"rate_limit_service"});
}

TEST_CASE("a file that is added to a pattern or removed changes what the names stand for") {
  const Files files;
  files.write("a.yaml", "domain: a\n");
  files.write("[b].yaml", "domain: b\n");
  const auto config = must_load("rate_limit_service: {files: [\"[b].yaml\", \"?.yaml\", a.yaml]}\n",
                                files.environment());
  const auto read = [&] {
    StampedPaths paths;
    for (const LimitFile& file : config->limit_files)
      paths.emplace_back(file.path, file.stamp);
    return paths;
  }();
  REQUIRE(read.size() == 2);
  CHECK(stamped_paths(config->limit_file_names) == read);
  files.write("c.yaml", "domain: c\n");
  CHECK(stamped_paths(config->limit_file_names).at(2).first == files.path("c.yaml"));
  std::filesystem::remove(files.path("c.yaml"));
  CHECK(stamped_paths(config->limit_file_names) == read);
  std::filesystem::remove(files.path("a.yaml"));
  CHECK(stamped_paths(config->limit_file_names).at(1) ==
        std::pair(files.path("a.yaml"), FileStamp{}));
}

TEST_CASE("problems of files are reported at their name, with the place in the file") {
  const Files files;
  files.write("a.yaml", "domain: d\ndescriptors: [{kay: a}]\n");
  const Environment in = files.environment();
  const std::string here =
      "1:30: rate_limit_service.files[0]: file \"" + files.path("a.yaml") + "\"";
  const std::string yaml = files_section + "}\n";
  CHECK(problems_of(yaml, in) == here +
                                     " line 2, column 16: descriptors[0].kay: unknown key "
                                     "\"kay\"; did you mean \"key\"?\n");
  files.write("a.yaml", one_limit);
  files.write("b.yaml", one_limit);
  CHECK(problems_of(yaml, in) ==
        "1:30: rate_limit_service.files[0]: file \"" + files.path("b.yaml") +
            "\": the domain \"d\" is already that of file \"" + files.path("a.yaml") +
            "\"; write all of its descriptors in one file\n");
  std::filesystem::remove(files.path("b.yaml"));
  CHECK(problems_of(yaml + "policies: {d.a: {algorithm: gcra, rate: 1/1s}}\n", in) ==
        here +
            " line 2, column 36: descriptors[0].rate_limit: a policy of the configuration has "
            "the name of this limit, \"d.a\", already; rename that policy\n");
  files.write("a.yaml",
              "domain: d\n"
              "descriptors: [{key: a, rate_limit: {unit: year, requests_per_unit: 3000000007}}]\n");
  CHECK(problems_of(files_section + ", algorithm: gcra}\n", in)
            .find("descriptors[0].rate_limit: burst 3000000007 cannot be counted exactly") !=
        std::string::npos);
  std::filesystem::remove(files.path("a.yaml"));
  CHECK(problems_of(yaml, in) ==
        "1:30: rate_limit_service.files[0]: no file matches; put one there, or correct the "
        "pattern, which is relative to the directory of this file (here \"*.yaml\")\n");
  CHECK(problems_of("rate_limit_service: {files: [b.yaml]}", in) ==
        "1:30: rate_limit_service.files[0]: cannot read file \"" + files.path("b.yaml") +
            "\": No such file or directory; check the path, and in a container that the file is "
            "mounted\n");
}

TEST_CASE("files that are not read are no problem") {
  const Files files;
  Environment in = files.environment();
  in.reads_data_files = false;
  CHECK(problems_of("rate_limit_service: {files: [b.yaml, \"*.yaml\"]}", in).empty());
}

}  // namespace
}  // namespace weir::config
