#include <nlohmann/json.hpp>

#include "cli/explanation.hpp"

namespace weir::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A value, or what is shown in the place of numbers that come from a variable.
template <class Value>
Json shown(bool is_hidden, const Value& value) {
  return is_hidden ? Json(config::from_environment) : Json(value);
}

/// Exact: whole microseconds below 2^53 are doubles.
Json seconds(Duration duration) {
  const std::int64_t us = to_us(duration);
  return us % 1'000'000 == 0 ? Json(us / 1'000'000) : Json(static_cast<double>(us) / 1e6);
}

Json seconds(const std::optional<Duration>& duration) {
  return duration ? seconds(*duration) : Json();
}

Json identity_of(const ExplainedIdentity& identity) {
  Json hash;
  if (identity.hash) {
    std::string text;
    append_hex(text, *identity.hash);
    hash = std::move(text);
  }
  return {{"name", identity.name},
          {"source", identity.source},
          {"present", identity.hash.has_value()},
          {"hash", std::move(hash)}};
}

Json numbers_of(const ExplainedLimit& limit) {
  using rules::Algorithm;
  const rules::Policy& rule = limit.policy->rule;
  Json numbers;
  if (limit.rates.size() == 1) {
    numbers["rate"] = limit.rates.front();
  } else {
    numbers["rates"] = limit.rates;
  }
  numbers["limit"] = shown(limit.is_hidden, rule.capacity);
  numbers["window"] = shown(limit.is_hidden, seconds(rule.refill));
  if (rule.algorithm == Algorithm::gcra || rule.algorithm == Algorithm::token_bucket)
    numbers["burst"] = shown(limit.is_hidden, rule.capacity);
  if (rule.algorithm == Algorithm::leaky_bucket) {
    numbers["queue"] = shown(limit.is_hidden, rule.queue);
    numbers["max_delay"] = shown(limit.is_hidden, seconds(rule.max_delay));
  }
  numbers["from"] = "policy";
  return numbers;
}

Json limit_of(const ExplainedLimit& limit) {
  Json json{{"policy", limit.policy->name},
            {"route", limit.route->name},
            {"algorithm", rules::to_string(limit.policy->rule.algorithm)},
            {"shadow", limit.policy->shadow},
            {"applies", limit.decision.has_value()},
            {"because", limit.because},
            {"identity", identity_of(limit.identity)},
            {"cost", shown(limit.is_hidden, limit.cost)},
            {"numbers", numbers_of(limit)},
            {"allowed", nullptr},
            {"remaining", nullptr},
            {"reset_after", nullptr},
            {"retry_after", nullptr}};
  if (!limit.decision) return json;
  json["allowed"] = limit.decision->allowed;
  json["remaining"] = shown(limit.is_hidden, limit.decision->remaining);
  json["reset_after"] = shown(limit.is_hidden, seconds(limit.decision->reset_after));
  json["retry_after"] = shown(limit.is_hidden, seconds(limit.decision->retry_after));
  return json;
}

Json verdict_of(const ExplainedVerdict& verdict) {
  Json json{{"outcome", verdict.outcome}, {"status", nullptr}, {"retry_after", nullptr}};
  if (verdict.status) json["status"] = *verdict.status;
  if (verdict.retry_after) json["retry_after"] = shown(verdict.is_hidden, *verdict.retry_after);
  if (verdict.delay > Duration{0}) json["delay"] = shown(verdict.is_hidden, seconds(verdict.delay));
  if (!verdict.detail.empty()) json["detail"] = verdict.detail;
  return json;
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  Json json{{"route", nullptr}, {"upstream", nullptr}, {"plan", nullptr}};
  if (explanation.route != nullptr) json["route"] = explanation.route->name;
  if (explanation.upstream != nullptr) json["upstream"] = explanation.upstream->name;
  json["skipped"] = Json::array();
  for (const SkippedRoute& one : explanation.skipped)
    json["skipped"].push_back({{"route", one.route}, {"because", one.because}});
  json["limits"] = Json::array();
  for (const ExplainedLimit& limit : explanation.limits)
    json["limits"].push_back(limit_of(limit));
  json["verdict"] = verdict_of(explanation.verdict);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weir::cli
