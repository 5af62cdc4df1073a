#include "base/rfc3339.hpp"
#include "json/write.hpp"
#include "replay/report.hpp"
#include "replay/report_json_rates.hpp"

namespace weir::replay {
namespace {

std::int64_t number(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// The list of what `json_of` makes of each.
template <class Values, class JsonOf>
std::string list(const Values& values, JsonOf&& json_of) {
  std::vector<std::string> texts;
  for (const auto& one : values)
    texts.push_back(json_of(one).str());
  return json::list_of(texts);
}

json::Object json_of(const LineReport::Fault& fault) {
  json::Object object;
  object.text("file", fault.file).number("line", number(fault.number));
  object.text("problem", describe(fault.fault));
  return object;
}

json::Object json_of(const RouteReport& route) {
  json::Object object;
  object.text("policy", route.policy).text("route", route.route).flag("shadow", route.is_shadow);
  object.number("requests", number(route.use.requests)).number("denied", number(route.use.denied));
  return object;
}

json::Object json_of(const PolicyReport& policy) {
  json::Object object;
  object.text("policy", policy.policy).number("keys", number(policy.keys));
  object.number("denied_keys", number(policy.denied_keys));
  return object;
}

json::Object json_of(const Absence& absence) {
  json::Object object;
  object.text("identity", absence.identity).number("requests", number(absence.requests));
  return object;
}

json::Object json_of(const KeyReport& key) {
  json::Object object;
  object.text("policy", key.policy).text("identity", key.identity);
  object.text("hash", to_hex(key.hash));
  key.address ? object.text("address", *key.address) : object.json("address", "null");
  object.number("requests", number(key.use.requests)).number("denied", number(key.use.denied));
  object.text("first_denied", to_rfc3339(key.first_denied_at)).number("peak", key.peak);
  key.window ? object.number("peak_window_us", to_us(*key.window))
             : object.json("peak_window_us", "null");
  return object;
}

json::Object json_of(const Reproduction::Difference& one) {
  json::Object object;
  object.text("file", one.file).number("line", number(one.line));
  object.text("logged", one.logged).text("replayed", one.replayed);
  return object;
}

json::Object json_of(const Outcomes& outcomes) {
  json::Object object;
  object.number("allowed", number(outcomes.allowed)).number("delayed", number(outcomes.delayed));
  object.number("denied", number(outcomes.denied));
  object.number("shadow_denied", number(outcomes.shadow_denied));
  object.number("undecided", number(outcomes.undecided));
  object.number("no_route", number(outcomes.unrouted));
  object.number("malformed", number(outcomes.malformed));
  object.number("service_calls", number(outcomes.service_calls));
  return object;
}

}  // namespace

std::string to_json(const Report& report) {
  const auto object_of = [](const auto& value) { return json_of(value); };
  json::Object object;
  object.number("requests", number(report.lines.read));
  object.number("unreadable", number(report.lines.unreadable));
  object.json("first_unreadable", list(report.lines.first_faults, object_of));
  const bool has_time = report.lines.read > 0;
  const auto time = [&](std::string_view name, Instant at) {
    has_time ? object.text(name, to_rfc3339(at)) : object.json(name, "null");
  };
  time("from", report.first_at);
  time("to", report.last_at);
  object.number("late", number(report.late)).number("ahead", number(report.ahead));
  object.number("no_client", number(report.without_client));
  object.json("outcomes", json_of(report.outcomes).str());
  json::Object reproduction;
  reproduction.number("compared", number(report.reproduction.compared));
  reproduction.number("different", number(report.reproduction.different));
  reproduction.json("first_different", list(report.reproduction.first, object_of));
  object.json("reproduction", reproduction.str());
  object.json("absent", list(report.absent, object_of));
  object.json("routes", list(report.routes, object_of));
  object.json("policies", list(report.policies, object_of));
  object.json("keys", list(report.keys, object_of));
  object.json("timeline", timeline_json(report.timeline));
  object.json("other_rates", rates_json(report.rates));
  object.json("suggestions", report.suggestions ? suggestions_json(*report.suggestions) : "null");
  object.json("comparison", report.flips ? flips_json(*report.flips) : "null");
  return object.str();
}

}  // namespace weir::replay
