#include "decision/request_rules.hpp"

#include <algorithm>
#include <utility>

#include "http/characters.hpp"

namespace weir::decision {
namespace {

void add_fields_of(const identity::Source& source, std::vector<std::string>& names) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const std::string* const header = identity::header_of(part)) names.push_back(*header);
  });
}

std::vector<std::string> fields_of_identities(const limiter::Options& limits) {
  std::vector<std::string> names;
  for (const auto& identity : limits.identities)
    add_fields_of(identity.source, names);
  return names;
}

void add_fields_of_routes(const options::Proxy& options, std::vector<std::string>& names) {
  for (const auto& route : options.routes) {
    for (const auto& [name, value] : route.match.headers)
      names.push_back(name);
  }
}

void add_fields_of_plans(const limiter::Options& limits, std::vector<std::string>& names) {
  for (const auto& source : limits.plans.sources) {
    if (const auto* const header = std::get_if<limiter::PlanFromHeader>(&source.from))
      names.push_back(header->name);
    if (const auto* const claim = std::get_if<limiter::PlanFromClaim>(&source.from))
      add_fields_of(claim->source, names);
  }
}

std::vector<std::string> fields_of_decisions(const options::Proxy& options,
                                             const limiter::Options& limits) {
  std::vector<std::string> names = fields_of_identities(limits);
  add_fields_of_routes(options, names);
  add_fields_of_plans(limits, names);
  // Each request is searched for each name, and many routes may use the same one.
  const auto is_before = [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return http::to_lower(x) < http::to_lower(y);
    });
  };
  std::sort(names.begin(), names.end(), is_before);
  names.erase(std::unique(names.begin(), names.end(),
                          [](const auto& a, const auto& b) { return http::iequals(a, b); }),
              names.end());
  return names;
}

http::FieldGuard field_guard_of(const options::Proxy& options, const limiter::Options& limits) {
  http::FieldGuardOptions guarded{
      .client_field = options.client_address.header_name,
      .own = fields_of_identities(limits),
      .removes_untrusted = options.client_address.removes_untrusted_fields,
      .untrusted = options.client_address.untrusted_fields,
      .drops_unusual = options.downstream.unusual_field_names == options::UnusualNames::drop};
  add_fields_of_routes(options, guarded.observed);
  add_fields_of_plans(limits, guarded.observed);
  // A field that a route sets or removes must not reach the service under another spelling.
  for (const options::Route& route : options.routes) {
    for (const std::string& name : route.request_edits.taken_out()) {
      if (!http::iequals(name, "host")) guarded.observed.push_back(name);
    }
  }
  for (const auto& policy : limits.policies) {
    for (const auto& attribute : policy.attributes)
      add_fields_of(attribute.source, guarded.observed);
  }
  return http::FieldGuard(guarded);
}

routing::RouteTable table_of(const options::Proxy& options) {
  std::vector<routing::RouteTable::Entry> entries;
  for (const options::Route& route : options.routes) {
    entries.push_back(
        {.match = &route.match,
         .tolerated = {.slashes = route.encoded_slashes, .doubled = route.double_encoding},
         .decides = route.decide,
         .refuses = !route.upstream && !route.decide && route.respond.status >= 400 &&
                    route.match.path && route.match.path->has_literal()});
  }
  return {std::move(entries), options.path_variants};
}

}  // namespace

RequestRules::RequestRules(const options::Proxy& its_options, const limiter::Options& its_limits,
                           std::shared_ptr<const void> its_owner)
    : options(its_options),
      limits(its_limits),
      owner(std::move(its_owner)),
      kept_fields(fields_of_decisions(options, limits)),
      field_guard(field_guard_of(options, limits)),
      route_table(table_of(options)) {}

bool RequestRules::repeats_read_field(std::span<const http::FieldView> fields) const {
  for (const auto& name : kept_fields) {
    std::size_t count = 0;
    for (const auto& field : fields)
      count += http::iequals(field.name, name) ? 1 : 0;
    if (count > 1) return true;
  }
  return false;
}

}  // namespace weir::decision
