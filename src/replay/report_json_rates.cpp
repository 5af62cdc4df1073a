#include "replay/report_json_rates.hpp"

#include "base/rfc3339.hpp"
#include "json/write.hpp"
#include "replay/report_words.hpp"

namespace weir::replay {
namespace {

std::int64_t whole(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

void add_text(json::Object& to, std::string_view name, const std::optional<std::string>& text) {
  text ? to.text(name, *text) : to.json(name, "null");
}

json::Object rate_object(const RateReport& rate) {
  json::Object object;
  if (rate.limit) {
    object.json("rate", "null").number("limit", *rate.limit);
  } else {
    object.text("rate", rate_of(rate)).number("burst", rate.burst);
  }
  add_text(object, "times", rate.times);
  object.flag("round", rate.is_round).number("denied", whole(rate.denied));
  object.number("denied_keys", whole(rate.denied_keys));
  return object;
}

void add_rate(json::Object& to, std::string_view name, const std::optional<RateReport>& rate) {
  to.json(name, rate ? rate_object(*rate).str() : "null");
}

std::string flipped_keys(const std::vector<FlippedKeyReport>& keys) {
  std::vector<std::string> texts;
  for (const FlippedKeyReport& one : keys) {
    json::Object object;
    object.text("policy", one.policy).text("identity", one.identity);
    object.text("hash", to_hex(one.hash));
    add_text(object, "address", one.address);
    object.number("flips", whole(one.flips)).number("error", whole(one.error));
    texts.push_back(object.str());
  }
  return json::list_of(texts);
}

}  // namespace

std::string rates_json(const std::vector<PolicyRates>& policies) {
  std::vector<std::string> texts;
  for (const PolicyRates& policy : policies) {
    json::Object object;
    object.text("policy", policy.policy);
    add_text(object, "plan", policy.plan);
    object.flag("drops_burst", policy.drops_burst);
    object.number("requests", whole(policy.requests)).number("keys", whole(policy.keys));
    std::vector<std::string> rates;
    for (const RateReport& one : policy.rates)
      rates.push_back(rate_object(one).str());
    texts.push_back(object.json("rates", json::list_of(rates)).str());
  }
  return json::list_of(texts);
}

std::string suggestions_json(const Suggestions& suggestions) {
  std::vector<std::string> texts;
  for (const Suggestion& one : suggestions.policies) {
    json::Object object;
    object.text("policy", one.policy);
    add_text(object, "plan", one.plan);
    object.number("requests", whole(one.requests)).number("keys", whole(one.keys));
    add_rate(object, "rate", one.rate);
    add_rate(object, "smaller", one.smaller);
    add_rate(object, "highest", one.highest);
    texts.push_back(object.flag("drops_burst", one.drops_burst).str());
  }
  json::Object object;
  object.text("share", percent_of(whole_share - suggestions.max_denied));
  object.json("policies", json::list_of(texts));
  return object.texts("without_durations", suggestions.without_durations).str();
}

std::string flips_json(const FlipReport& flips) {
  json::Object object;
  object.text("file", flips.file).number("decisions", whole(flips.counts.decisions));
  object.number("flips", whole(flips.counts.flips));
  object.number("to_denied", whole(flips.counts.to_denied));
  object.number("to_admitted", whole(flips.counts.to_admitted));
  object.number("not_compared", whole(flips.counts.not_compared));
  object.flag("secret_differs", flips.secret_differs);
  object.json("denied_keys", flipped_keys(flips.denied));
  return object.json("admitted_keys", flipped_keys(flips.admitted)).str();
}

std::string timeline_json(const Timeline& timeline) {
  json::Object object;
  const bool is_empty = timeline.periods().empty();
  is_empty ? object.json("from", "null") : object.text("from", to_rfc3339(timeline.begin()));
  object.number("period_us", to_us(timeline.length()));
  std::vector<std::string> requests, denied;
  for (const Timeline::Period& one : timeline.periods()) {
    requests.push_back(std::to_string(one.requests));
    denied.push_back(std::to_string(one.denied));
  }
  object.json("requests", json::list_of(requests));
  return object.json("denied", json::list_of(denied)).str();
}

}  // namespace weir::replay
