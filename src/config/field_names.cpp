// Checks for fields that one part of the file reads and another removes.
#include "config/sections.hpp"
#include "http/look_alike.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

/// Reports a field that is removed before anything reads it.
void check_kept(const Cursor& in, std::string_view name) {
  if (http::is_plain_name(name)) return;
  // The message does not contain the name, which may come from a variable.
  in.error(
      "downstream.unusual_field_names: drop removes a field that is read here; choose pass, or a "
      "name of letters, digits and -");
}

void check_source(const Cursor& in, const identity::Source& source) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const std::string* const header = identity::header_of(part)) check_kept(in, *header);
  });
}

bool identifies(const Config& config, std::string_view name) {
  bool found = false;
  for (const identity::Definition& identity : config.identities) {
    identity::each_part(identity.source, [&](const identity::Source& part) {
      const std::string* const header = identity::header_of(part);
      found |= header != nullptr && http::iequals(name, *header);
    });
  }
  return found;
}

}  // namespace

void check_unusual_field_names(const Cursor& root, const Config& config) {
  if (config.downstream.unusual_field_names != proxy::UnusualNames::drop) return;
  check_kept(root.at_key("client_address").at_key("header"), config.client_address.header_name);
  for (const identity::Definition& identity : config.identities)
    check_source(root.at_key("identities").at_key(identity.name), identity.source);
  for (const limiter::Policy& policy : config.policies) {
    for (const limiter::Attribute& attribute : policy.attributes) {
      if (attribute.kind != limiter::Attribute::Kind::header) continue;
      check_source(root.at_key("policies").at_key(policy.name).at_key("attributes"),
                   attribute.source);
    }
  }
  for (std::size_t i = 0; i < config.plans.sources.size(); ++i) {
    if (const auto* from = std::get_if<limiter::PlanFromHeader>(&config.plans.sources[i].from))
      check_kept(root.at_key("plan_from").at(i).at_key("header"), from->name);
  }
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    for (const auto& [name, value] : config.routes[i].match.headers)
      check_kept(root.at_key("routes").at(i).at_key("match").at_key("headers").at_key(name), name);
  }
}

void warn_of_untrusted_fields(const Cursor& root, const Config& config) {
  const auto& names = config.client_address.untrusted_fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!identifies(config, names[i])) continue;
    root.at_key("client_address")
        .at_key("untrusted_fields")
        .at(i)
        .warn("never removed: an identity reads this field");
  }
}

}  // namespace weir::config
