#include "replay/own_log.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "usage/usage_plan.hpp"

namespace weir::replay {
namespace {

constexpr std::string_view route_field = "weir-replay-route";
constexpr std::string_view plan_field = "weir-replay-plan";

/// A field name for a name of the configuration, which may have any characters.
std::string field_for(std::string_view prefix, std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string field(prefix);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    field += digits[byte >> 4];
    field += digits[byte & 0xf];
  }
  return field;
}

std::string identity_field(std::string_view identity) {
  return field_for("weir-replay-identity-", identity);
}

std::string reserve_field(std::string_view policy) {
  return field_for("weir-replay-reserve-", policy);
}

void append_line_of(std::string& head, std::string_view name, std::string_view value) {
  const bool is_value =
      std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!value.empty() && is_value) head.append(name).append(": ").append(value).append("\r\n");
}

void append_limit(std::string& head, const OwnLimit& limit) {
  if (!limit.identity_kind.empty())
    append_line_of(head, identity_field(limit.identity_kind), limit.identity);
  // A denied request holds nothing; its cost is what it asked for.
  const auto units = limit.reserved ? limit.reserved : limit.cost;
  if (units) append_line_of(head, reserve_field(limit.policy), std::to_string(*units));
}

/// True if the log has all that the source reads: the client's address and the path.
bool is_logged(const identity::Source& source) {
  bool is_logged = true;
  identity::each_part(source, [&](const identity::Source& part) {
    is_logged = is_logged && (std::holds_alternative<identity::FromClientAddress>(part.from) ||
                              std::holds_alternative<identity::FromPath>(part.from));
  });
  return is_logged;
}

void read_logged(limiter::Charge& charge, const std::string& policy) {
  if (charge.reserve) {
    charge.reserve->header = reserve_field(policy);
    charge.reserve->in_body.reset();
  }
  if (charge.cost_from) {
    const std::array sources{usage::UsageSource{.field = cost_field(policy)}};
    charge.cost_from = usage::UsagePlan::compile(sources).value();
  }
}

/// True if the route has conditions that a line does not have.
bool needs_name(const options::Route& route) {
  return route.match.host || !route.match.headers.empty() || route.decide;
}

/// The route, for lines with its name. The log has the original request of a route that decides.
options::Route by_name(options::Route route) {
  if (route.decide) route.match.path.reset();
  route.decide = false;
  route.match.host.reset();
  route.match.headers = {{std::string(route_field), route.name}};
  return route;
}

}  // namespace

OwnLogConfiguration::OwnLogConfiguration(const options::Proxy& its_proxy,
                                         const limiter::Options& its_limits)
    : proxy(its_proxy), limits(its_limits) {
  for (identity::Definition& one : limits.identities) {
    if (is_logged(one.source)) continue;
    identity::Source logged{identity::FromHeader{identity_field(one.name)}};
    one.source = {identity::AnyOf{{std::move(logged), std::move(one.source)}}};
  }
  if (!limits.plans.names.empty())
    limits.plans.sources.insert(limits.plans.sources.begin(),
                                {limiter::PlanFromHeader{std::string(plan_field)}});
  std::vector<options::Route> named;
  for (options::Route& route : proxy.routes) {
    route.needs = options::needs_nothing;
    for (limiter::Limit& limit : route.limits) {
      if (limit.charge) read_logged(*limit.charge, limits.policies[limit.policy].name);
    }
    if (needs_name(route)) named.push_back(by_name(route));
  }
  proxy.routes.insert(proxy.routes.begin(), named.begin(), named.end());
}

void append_own_fields(std::string& head, const OwnRecord& own, std::string_view method) {
  append_line_of(head, route_field, own.route);
  append_line_of(head, plan_field, own.plan);
  append_limit(head, {.policy = own.policy,
                      .identity = own.identity,
                      .identity_kind = own.identity_kind,
                      .cost = own.cost,
                      .reserved = own.reserved});
  for (std::size_t i = 0; i < own.others.size(); ++i) {
    OwnLimit other = own.others[i];
    const auto is_same = [&](const OwnLimit& one) {
      return one.identity_kind == other.identity_kind;
    };
    // A field that is repeated would make the identity ambiguous.
    if (other.identity_kind == own.identity_kind ||
        std::ranges::any_of(own.others.first(i), is_same))
      other.identity_kind = {};
    append_limit(head, other);
  }
  // No limit applied to a CORS preflight request; the log does not have the field that makes it
  // one.
  if (method == "OPTIONS" && own.decision.empty())
    append_line_of(head, "Access-Control-Request-Method", "GET");
}

std::string cost_field(std::string_view policy) {
  return field_for("weir-replay-cost-", policy);
}

}  // namespace weir::replay
