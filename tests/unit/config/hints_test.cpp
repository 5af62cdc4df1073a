#include "config/hints.hpp"

#include <algorithm>

#include "catch.hpp"
#include "config/key_path.hpp"
#include "config/load.hpp"
#include "unit/config/known_keys.hpp"

namespace weir::config {
namespace {

using HintRows = std::vector<std::pair<std::string_view, std::string_view>>;

void check_hints(std::string (*hint_of)(std::string_view), const HintRows& rows) {
  for (const auto& [written, meant] : rows) {
    CAPTURE(written);
    CHECK(hint_of(written) == did_you_mean(meant));
  }
}

TEST_CASE("the shape of a path has no index and no name") {
  CHECK(shape_of("") == "");
  CHECK(shape_of("policies.per_client.rate") == "policies.*.rate");
  CHECK(shape_of("routes[3].limits[10].policy") == "routes[].limits[].policy");
  CHECK(shape_of("plans.gold.per_user.rate") == "plans.*.*.rate");
  CHECK(shape_of("store.redis.url") == "store.redis.url");
  CHECK(shape_of("upstreams.\"a.b\".servers[0].url") == "upstreams.*.servers[].url");
  CHECK(shape_of("identities.a.any_of[1].header") == "identities.*.any_of[].header");
}

TEST_CASE("keys that belong elsewhere, and those of other programs") {
  CHECK(key_hint("routes[]", "rate").starts_with("; define a policy, as in policies:"));
  CHECK(key_hint("anything", "http2").find("protocol: http2") != std::string::npos);
  CHECK(key_hint("policies.*", "key").starts_with("; the key belongs to a route"));
  CHECK(key_hint("routes[]", "key").starts_with("; write limits: [{policy: NAME, key: IDENTITY}]"));
  CHECK(key_hint("routes[].respond", "location") == "; write headers: {location: URL}");
  CHECK(key_hint("routes[]", "location").find("match: {") != std::string::npos);
  CHECK(key_hint("routes[]", "colour").empty());
  CHECK(key_hint("routes[]", "").empty());
  CHECK(key_hint("routes[]", "url to").empty());
}

TEST_CASE("examples are for keys that exist") {
  const auto known = test::known_keys();
  const auto is_known = [&](std::string_view shape) {
    return std::ranges::any_of(known,
                               [&](const std::string& key) { return key.starts_with(shape); });
  };
  for (const char* const shape : {"policies.*", "routes[].match", "upstreams.*.servers[].url",
                                  "store.redis", "routes[].limits[].charge"}) {
    CAPTURE(shape);
    CHECK(is_known(shape));
    CHECK(example_of(shape).empty() == (std::string_view(shape) == "upstreams.*.servers[].url"));
  }
  CHECK(example_of("identities.*.any_of[].all_of[]") == example_of("identities.*"));
}

TEST_CASE("words in another spelling, or of other programs") {
  constexpr std::string_view algorithms[] = {"gcra", "token_bucket"};
  CHECK(word_hint("GCRA", algorithms) == "; did you mean \"gcra\"?");
  CHECK(word_hint("Token-Bucket", algorithms) == "; did you mean \"token_bucket\"?");
  CHECK(word_hint("token bucket", algorithms) == "; did you mean \"token_bucket\"?");
  CHECK(word_hint("dry_run", algorithms).empty());
  constexpr std::string_view modes[] = {"enforce", "shadow"};
  CHECK(word_hint("dry-run", modes) == "; did you mean \"shadow\"?");
  CHECK(word_hint("enforced", modes) == "; did you mean \"enforce\"?");
  CHECK(word_hint("", modes).empty());
}

TEST_CASE("references to what is not defined") {
  CHECK(definition_hint("policy", "p", false).empty());
  CHECK(definition_hint("policy", "p", true) ==
        "; none is defined; write policies: {per_client: {algorithm: gcra, rate: 10/s}}, and its "
        "name here");
  for (const char* const no_name : {"header:x-api-key", "api// comment", "p burst=20", "a=b"}) {
    CAPTURE(no_name);
    CHECK(definition_hint("identity", no_name, false) ==
          "; write identities: {api_key: {header: x-api-key}}, and its name here");
  }
}

TEST_CASE("a missing space after the colon, and variables of a shell") {
  CHECK(colon_hint("rate:10/s") == "; write a colon and a space: rate: VALUE");
  CHECK(colon_hint("burst=20") == "; write a colon and a space: burst: VALUE");
  for (const char* const other : {"http://a", "10/s", "rate:", ":x", ""})
    CHECK(colon_hint(other).empty());
  for (const char* const variable : {"$BACKEND", "$WEIR_URL2", "http://$HOST:$PORT"})
    CHECK(variable_hint(variable) == "; for an environment variable write ${NAME}");
  for (const char* const other :
       {"$remote_addr", "${BACKEND}", "http://$host:80", "a$Bc", "$", "$5", ""})
    CHECK(variable_hint(other).empty());
  CHECK(is_shell_variable("$BACKEND"));
  for (const char* const other : {"", "$", "a$B", "$A$B", "$A-", "${A}", "$a"})
    CHECK_FALSE(is_shell_variable(other));
}

TEST_CASE("addresses and prefixes") {
  check_hints(prefix_hint, {{"10.0.0.1/8", "10.0.0.0/8"},
                            {"2001:db8::1/32", "2001:db8::/32"},
                            {"10.0.0.0/33", ""},
                            {"10.0.0.0/255.0.0.0", ""},
                            {"10.0.0.1", ""},
                            {"proxy.internal", ""}});
  CHECK(prefix_hint("$PROXY") == "; for an environment variable write ${NAME}");
  check_hints(endpoint_hint, {{"8080", "0.0.0.0:8080"},
                              {":8080", "0.0.0.0:8080"},
                              {"*:8080", "0.0.0.0:8080"},
                              {"80800", ""},
                              {"localhost", ""},
                              {"::1:80", ""}});
}

TEST_CASE("a rate, a duration or a size in another notation") {
  check_hints(rate_hint, {{"10/sec", "10/s"},
                          {"100/Minute", "100/m"},
                          {"1000/hour", "1000/h"},
                          {"5/day", "5/d"},
                          {"700/week", "700/7d"},
                          {"10000/month", "10000/30d"},
                          {"10r/s", "10/s"},
                          {"100 per minute", "100/m"},
                          {"100 requests per 30s", "100/30s"},
                          {"10 / 1s", "10/1s"},
                          {"10,000/1h", "10000/1h"},
                          {"10", ""},
                          {"many", ""},
                          {"", ""},
                          {"/s", ""},
                          {"10/", ""},
                          {"10/fortnight", ""},
                          {"99999999999999999999/s", ""}});
  check_hints([](std::string_view written) { return duration_hint(written); },
              {{"5", "5s"},
               {"30 seconds", "30s"},
               {"2 Minutes", "2m"},
               {"500 msec", "500ms"},
               {"3 days", "3d"},
               {"2 weeks", ""},
               {"1m30s", ""},
               {"99999999999999999999", ""},
               {"99999999999999999999d", ""},
               {"soon", ""},
               {"", ""}});
  check_hints([](std::string_view written) { return duration_hint(written, Duration{5'000'000}); },
              {{"5", "5s"}, {"6", "6ms"}, {"6000", "6000us"}, {"6000000", ""}, {"3 days", ""}});
  check_hints(size_hint, {{"10MB", "10MiB"},
                          {"10m", "10MiB"},
                          {"8 KB", "8KiB"},
                          {"1 gib", "1GiB"},
                          {"512 bytes", "512B"},
                          {"10TB", ""},
                          {"99999999999999999999MB", ""},
                          {"large", ""},
                          {"", ""}});
}

TEST_CASE("hints for keys of a scenario are those of its own kind of file") {
  CHECK(key_hint("test:steps[]", "times") == "; did you mean \"repeat\"?");
  CHECK(key_hint("test:", "limits").empty());
  CHECK(key_hint("test:steps[]", "timeout").empty());
  CHECK_FALSE(key_hint("test:", "<<").empty());
  CHECK(key_hint("steps[]", "times").empty());
  CHECK(example_of("test:steps[].request") == "{url: \"http://api.example.com/\"}");
  CHECK(all_keys_hint("") == "; config/reference.yaml has all keys");
  CHECK(all_keys_hint("test") == "; docs/testing-limits.md has all keys");
}

}  // namespace
}  // namespace weir::config
