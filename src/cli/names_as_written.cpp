#include "cli/names_as_written.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/key_path.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using config::item_path;
using config::key_path;
using identity::Source;

/// A name, and the text in the file.
using Names = std::vector<std::pair<std::string, std::string>>;

std::string name_of(const Source& source) {
  if (const std::string* const header = identity::header_of(source)) return *header;
  if (const auto* const query = std::get_if<identity::FromQuery>(&source.from)) return query->name;
  const auto* const cookie = std::get_if<identity::FromCookie>(&source.from);
  return cookie == nullptr ? "" : cookie->name;
}

std::vector<std::string> names_in(const Source& source) {
  std::vector<std::string> names;
  identity::each_part(source, [&](const Source& part) { names.push_back(name_of(part)); });
  return names;
}

/// Names of fields are refused in lower case.
void add(Names& to, const std::string& name, const std::string& shown) {
  if (name == shown || name.empty()) return;
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), http::to_lower);
  to.emplace_back(name, shown);
  if (lower != name) to.emplace_back(std::move(lower), shown);
}

void add_identities(const config::Config& config, Names& to) {
  for (const auto& one : config.identities) {
    const auto names = names_in(one.source);
    const auto shown = names_in(config.written.shown(key_path("identities", one.name), one.source));
    for (std::size_t i = 0; i < names.size(); ++i)
      add(to, names[i], shown[i]);
  }
}

void add_attributes(const config::Config& config, Names& to) {
  for (const auto& policy : config.policies) {
    const std::string path = key_path(key_path("policies", policy.name), "attributes");
    for (std::size_t i = 0; i < policy.attributes.size(); ++i) {
      const auto& attribute = policy.attributes[i];
      const std::string shown = config.written.shown(item_path(path, i), attribute.text);
      if (shown == attribute.text) continue;
      add(to, name_of(attribute.source), shown.substr(shown.find(':') + 1));
    }
  }
}

void add_plan_fields(const config::Config& config, Names& to) {
  for (std::size_t i = 0; i < config.plans.sources.size(); ++i) {
    const auto* const from = std::get_if<limiter::PlanFromHeader>(&config.plans.sources[i].from);
    if (from == nullptr) continue;
    const std::string path = key_path(item_path("plan_from", i), "header");
    add(to, from->name, config.written.shown(path, from->name));
  }
}

void add_removed_fields(const config::Config& config, Names& to) {
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const std::string edits = key_path(item_path("routes", i), "request_headers");
    const std::string path = key_path(edits, "remove");
    const auto& names = config.routes[i].request_edits.taken_out();
    for (std::size_t j = 0; j < names.size(); ++j)
      add(to, names[j], config.written.shown(item_path(path, j), names[j]));
  }
}

void add_client_fields(const config::Config& config, Names& to) {
  const auto& settings = config.client_address;
  const std::string path = "client_address";
  add(to, settings.header_name,
      config.written.shown(key_path(path, "header"), settings.header_name));
  const std::string fields = key_path(path, "untrusted_fields");
  for (std::size_t i = 0; i < settings.untrusted_fields.size(); ++i) {
    const std::string& name = settings.untrusted_fields[i];
    add(to, name, config.written.shown(item_path(fields, i), name));
  }
}

}  // namespace

std::string with_names_as_written(const config::Config& config, std::string detail) {
  Names names;
  add_identities(config, names);
  add_attributes(config, names);
  add_plan_fields(config, names);
  add_client_fields(config, names);
  add_removed_fields(config, names);
  for (const auto& [name, shown] : names) {
    const std::string quoted = '"' + name + '"';
    const auto at = detail.find(quoted);
    if (at != std::string::npos) detail.replace(at, quoted.size(), '"' + shown + '"');
  }
  return detail;
}

}  // namespace weir::cli
