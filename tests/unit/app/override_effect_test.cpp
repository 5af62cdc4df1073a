#include "app/override_effect.hpp"

#include "catch.hpp"
#include "config/load.hpp"

using namespace weir;
using namespace weir::app;

namespace {

const config::Environment no_variables{
    .variable = [](const std::string&) { return std::optional<std::string>(); }, .directory = {}};

std::string warning_about(const std::string& members) {
  const auto config = config::load_text(R"(
identities:
  api_key: {header: X-Api-Key}
  tenant: {header: X-Tenant}
  unused: {header: X-Unused}
policies:
  burst: {rate: 10/1s}
  plain: {rate: 10/1s}
  idle: {rate: 10/1s}
plans: {gold: {idle: {rate: 99/1s}}, both: {burst: {rate: 99/1s}}}
default_plan: gold
routes:
  - respond: {status: 200}
    limits: [{policy: burst, key: api_key}, {policy: plain, key: tenant, otherwise: client}]
)",
                                        no_variables)
                          .value();
  const std::vector<std::string> names{"burst", "plain", "idle"};
  const auto put = read_override("{" + members + "}", {*config, names}, instant_from_us(1));
  REQUIRE(put.has_value());
  return ineffective_because(*put, *config);
}

}  // namespace

TEST_CASE("An override that no limit can use has a warning") {
  constexpr auto hash = R"("key":"hash:000000000000000000000000000000ab",)";
  const std::string end =
      ", so this override has no effect; add such a limit, or delete the override";
  for (const auto& [members, limit] :
       {std::pair{std::string(R"("key":"a","identity":"api_key","policy":"burst","deny":true)"),
                  ""},
        {R"("key":"a","identity":"tenant","deny":true)", ""},
        {R"("key":"192.0.2.1","identity":"client","policy":"plain","deny":true)", ""},
        {std::string(hash) + R"("policy":"plain","rate":"5/1s")", ""},
        {std::string(hash) + R"("unlimited":true)", ""},
        // one without the other
        {R"("key":"a","identity":"tenant","policy":"burst","deny":true)",
         "no limit of a route has the policy burst with the key tenant"},
        {R"("key":"a","identity":"api_key","policy":"idle","deny":true)",
         "no limit of a route has the policy idle"},
        {R"("key":"a","identity":"unused","policy":"burst","deny":true)",
         "no limit of a route has the key unused"},
        {R"("key":"a","identity":"unused","deny":true)", "no limit of a route has the key unused"},
        {std::string(hash) + R"("policy":"idle","rate":"5/1s")",
         "no limit of a route has the policy idle"},
        {std::string(hash) + R"("identity":"unused","rate":"5/1s","policy":"burst")",
         "no limit of a route has the key unused"},
        // a plan for all policies changes those that it or another plan changes
        {R"("key":"a","identity":"api_key","plan":"gold")", ""},
        {R"("key":"a","identity":"tenant","plan":"gold")",
         "no limit of a route has a policy that plans change with the key tenant"}}) {
    CAPTURE(members);
    CHECK(warning_about(members) == (*limit == '\0' ? std::string() : limit + end));
  }
}
