#include "app/instance_settings.hpp"

#include "catch.hpp"
#include "config/load.hpp"
#include "unit/config/loading.hpp"

using namespace weir;
using namespace weir::app;

namespace {

using Names = std::vector<std::string>;

const std::string rest =
    "upstreams: {a: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
    "routes: [{upstream: a}]\n";

std::string settings_of(const std::string& yaml) {
  return instance_settings(*config::test::must_load(yaml + rest));
}

const std::string base =
    "identity_secret: the first secret of the two\n"
    "policies: {p: {algorithm: fixed_window, rate: 10/1h}}\n";

}  // namespace

TEST_CASE("instances with the same configuration announce the same settings") {
  CHECK(settings_of(base) == settings_of(base));
  CHECK(differing_settings(settings_of(base), settings_of(base)).empty());
  // Settings that do not change how a client is counted may differ.
  CHECK(settings_of(base) == settings_of(base + "workers: 3\nretry_after: http_date\n"));
}

TEST_CASE("a setting that changes how clients are counted is named") {
  const std::string one = "identity_secret: the first secret of the two\n";
  const struct {
    const char* change;
    std::string yaml;
    Names names;
  } rows[] = {
      {"the secret",
       "identity_secret: the second secret of them\n"
       "policies: {p: {algorithm: fixed_window, rate: 10/1h}}\n",
       {"identity_secret"}},
      {"the anchor",
       one + "policies: {p: {algorithm: fixed_window, rate: 10/1h, anchor: clock}}\n",
       {"policies.p.anchor"}},
      {"the algorithm",
       one + "policies: {p: {algorithm: gcra, rate: 9/1h}}\n",
       {"policies.p.algorithm"}},
      {"the count",
       one + "policies: {p: {algorithm: fixed_window, rate: 11/1h}}\n",
       {"policies.p"}},
      {"the time", one + "policies: {p: {algorithm: fixed_window, rate: 10/2h}}\n", {"policies.p"}},
      {"denied requests count",
       one + "policies: {p: {algorithm: fixed_window, rate: 10/1h, count_rejected: true}}\n",
       {"policies.p"}},
      {"prefixes",
       base + "client_address: {ipv4_prefix: 24, ipv6_prefix: 56}\n",
       {"client_address.ipv4_prefix", "client_address.ipv6_prefix"}},
      {"replicas", base + "store: {redis: {replicas: 2}}\n", {"store.redis.replicas"}},
      {"another policy", one + "policies: {q: {algorithm: fixed_window, rate: 10/1h}}\n", {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.change);
    CHECK(differing_settings(settings_of(base), settings_of(row.yaml)) == row.names);
    CHECK(differing_settings(settings_of(row.yaml), settings_of(base)) == row.names);
  }
}

TEST_CASE("settings contain neither the secret nor the numbers of a policy") {
  const std::string text = settings_of(
      "identity_secret: keep-this-to-yourself-please\n"
      "policies: {p: {algorithm: gcra, rate: 7919/1h, burst: 6841}}\n");
  CHECK(text.find("keep-this") == std::string::npos);
  CHECK(text.find("7919") == std::string::npos);
  CHECK(text.find("6841") == std::string::npos);
}

TEST_CASE("many policies have one line together") {
  std::string yaml = "policies:\n";
  for (int i = 0; i < 201; ++i)
    yaml += "  p" + std::to_string(i) + ": {algorithm: gcra, rate: 10/1h}\n";
  const std::string changed = yaml + "  last: {algorithm: gcra, rate: 10/1h}\n";
  CHECK(settings_of(yaml).size() < 300);
  CHECK(differing_settings(settings_of(yaml), settings_of(changed)) == Names{"policies"});
}

TEST_CASE("a text that is no list of settings differs in nothing") {
  for (const char* text : {"", "\n", "identity_secret", "\t\n\t", "other\tx\n"})
    CHECK(differing_settings(settings_of(base), text).empty());
}
