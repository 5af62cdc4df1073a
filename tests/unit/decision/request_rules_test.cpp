#include "decision/request_rules.hpp"

#include "catch.hpp"
#include "http/characters.hpp"
#include "unit/decision/configuration.hpp"
#include "unit/http/request_of.hpp"

namespace weir::decision {
namespace {

using Names = std::vector<std::string>;

identity::Definition read_from(const std::string& field) {
  return {.name = field, .source = {identity::FromHeader{field}}};
}

options::Route forwarding_route() {
  options::Route route;
  route.match.path = routing::PathPattern::parse("/a/**").value();
  route.upstream = 0;
  return route;
}

TEST_CASE("fields that decide about a request are kept, each once") {
  test::Configuration config;
  config.limiter.identities = {read_from("x-key"),
                               {.name = "any",
                                .source = {identity::AnyOf{{{identity::FromHeader{"x-user"}},
                                                            {identity::FromQuery{"key"}}}}}},
                               {.name = "client", .source = {identity::FromClientAddress{}}}};
  options::Route route = forwarding_route();
  route.match.headers = {{"X-Region", "eu"}, {"X-KEY", "1"}};
  config.proxy.routes = {route, route};
  config.limiter.plans.sources = {{limiter::PlanFromHeader{"X-Plan"}}};
  const RequestRules rules(config.proxy, config.limiter);
  Names lower;
  for (std::string name : rules.kept_fields) {
    for (char& c : name)
      c = http::to_lower(c);
    lower.push_back(name);
  }
  CHECK(lower == Names{"x-key", "x-plan", "x-region", "x-user"});
}

TEST_CASE("a field that decides is not repeated") {
  test::Configuration config;
  config.limiter.identities = {read_from("x-key")};
  const RequestRules rules(config.proxy, config.limiter);
  CHECK_FALSE(rules.repeats_read_field({}));
  CHECK_FALSE(rules.repeats_read_field(http::fields_of({{"X-Key", "a"}, {"X-Other", "b"}})));
  CHECK_FALSE(rules.repeats_read_field(http::fields_of({{"X-Other", "a"}, {"X-Other", "b"}})));
  CHECK(rules.repeats_read_field(http::fields_of({{"X-Key", "a"}, {"x-key", "a"}})));
}

TEST_CASE("a field that looks like one that decides is refused") {
  test::Configuration config;
  config.limiter.identities = {read_from("x-key")};
  options::Route route = forwarding_route();
  route.match.headers = {{"x-region", "eu"}};
  config.proxy.routes = {route};
  config.limiter.plans.sources = {{limiter::PlanFromHeader{"x-plan"}}};
  const RequestRules rules(config.proxy, config.limiter);
  for (const char* const name : {"X_Key", "X.Key", "X_Region", "X_Plan"}) {
    CAPTURE(name);
    CHECK(rules.field_guard.refusal_of(http::fields_of({{name, "a"}})).has_value());
  }
  for (const char* const name : {"X-Key", "X-Region", "X-Plan", "X_Other"}) {
    CAPTURE(name);
    CHECK_FALSE(rules.field_guard.refusal_of(http::fields_of({{name, "a"}})).has_value());
  }
}

TEST_CASE("untrusted fields are those of the configuration") {
  test::Configuration config;
  config.proxy.client_address.untrusted_fields = {"x-internal-*"};
  const http::FieldView field = http::fields_of({{"X-Internal-User", "a"}})[0];
  CHECK(RequestRules(config.proxy, config.limiter).field_guard.is_removed(field, false));
  CHECK_FALSE(RequestRules(config.proxy, config.limiter).field_guard.is_removed(field, true));
  config.proxy.client_address.removes_untrusted_fields = false;
  CHECK_FALSE(RequestRules(config.proxy, config.limiter).field_guard.is_removed(field, false));
}

}  // namespace
}  // namespace weir::decision
