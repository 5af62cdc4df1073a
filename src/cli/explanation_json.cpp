#include <nlohmann/json.hpp>

#include "cli/explanation.hpp"

namespace weir::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A number, or the text shown instead of one that follows from a variable or a file.
template <class Value>
Json shown(bool is_hidden, const Value& value) {
  Json json(value);
  return is_hidden && !json.is_null() ? Json(config::from_environment) : json;
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
          {"present", identity.is_known ? Json(identity.hash.has_value()) : Json()},
          {"hash", std::move(hash)}};
}

Json concurrency_numbers(const ExplainedLimit& limit) {
  Json numbers{{"limit", shown(limit.hides_numbers, limit.numbers.capacity)}};
  if (limit.policy->queue > 0) {
    numbers["queue"] = shown(limit.hides_numbers, limit.policy->queue);
    numbers["max_wait"] = seconds(limit.policy->max_wait);
  }
  numbers["from"] = limit.numbers_from;
  return numbers;
}

Json numbers_of(const ExplainedLimit& limit) {
  using rules::Algorithm;
  const rules::Policy& in_force = limit.numbers;
  Json numbers;
  if (limit.is_unlimited) return {{"unlimited", true}, {"from", limit.numbers_from}};
  if (limit.is_denied) return {{"denied", true}, {"from", limit.numbers_from}};
  if (in_force.algorithm == Algorithm::concurrency) return concurrency_numbers(limit);
  if (limit.rates.size() == 1) {
    numbers["rate"] = limit.rates.front();
  } else {
    numbers["rates"] = limit.rates;
  }
  numbers["limit"] = shown(limit.hides_numbers, in_force.capacity);
  numbers["window"] = shown(limit.hides_numbers, seconds(in_force.refill));
  if (in_force.algorithm == Algorithm::gcra || in_force.algorithm == Algorithm::token_bucket)
    numbers["burst"] = shown(limit.hides_numbers, in_force.capacity);
  if (in_force.algorithm == Algorithm::leaky_bucket) {
    numbers["queue"] = shown(limit.hides_numbers, in_force.queue);
    numbers["max_delay"] = shown(limit.hides_numbers, seconds(in_force.max_delay));
  }
  numbers["from"] = limit.numbers_from;
  return numbers;
}

Json address_of(const ExplainedAddress& address) {
  return {{"list", address.list}, {"prefix", address.prefix}};
}

Json conditions_of(const std::vector<ExplainedCondition>& conditions) {
  Json all = Json::array();
  for (const ExplainedCondition& one : conditions) {
    Json json{{"condition", one.name}, {"holds", one.holds}, {"because", one.because}};
    if (one.address) json["address"] = address_of(*one.address);
    all.push_back(std::move(json));
  }
  return all;
}

Json live_of(const LiveState& live) {
  if (!live.problem.empty()) return {{"problem", live.problem}};
  Json json{{"store", live.store}};
  if (live.is_unlimited || live.is_denied) {
    json[live.is_denied ? "denied" : "unlimited"] = true;
  } else {
    json["limit"] = live.limit;
  }
  json["from"] = live.from;
  json["remaining"] = live.remaining;
  json["held"] = live.held;
  json["reset_after"] = seconds(live.reset_after);
  json["retry_after"] = seconds(live.retry_after);
  return json;
}

Json limit_of(const ExplainedLimit& limit) {
  Json json{{"policy", limit.policy->name}};
  if (limit.route != nullptr) {
    json["route"] = limit.route->name;
  } else {
    json["descriptor"] = limit.descriptor;
  }
  json.update(Json{{"algorithm", rules::to_string(limit.policy->numbers.algorithm)},
                   {"shadow", limit.policy->shadow},
                   {"applies", limit.decision.has_value()},
                   {"because", limit.because},
                   {"identity", identity_of(limit.identity)},
                   {"cost", shown(limit.hides_cost, limit.cost)},
                   {"held", limit.holds},
                   {"numbers", numbers_of(limit)},
                   {"allowed", nullptr},
                   {"remaining", nullptr},
                   {"reset_after", nullptr},
                   {"retry_after", nullptr}});
  if (limit.live) json["live"] = live_of(*limit.live);
  if (!limit.conditions.empty()) json["conditions"] = conditions_of(limit.conditions);
  if (!limit.decision) return json;
  const bool is_hidden = limit.hides_decision();
  json["allowed"] = limit.decision->allowed;
  json["remaining"] = shown(is_hidden, limit.decision->remaining);
  json["reset_after"] = shown(is_hidden, seconds(limit.decision->reset_after));
  json["retry_after"] = shown(is_hidden, seconds(limit.decision->retry_after));
  return json;
}

Json original_of(const ExplainedOriginal& original) {
  return {{"method", original.request.method},
          {"path", original.request.path},
          {"host", original.request.host},
          {"because", original.because}};
}

Json verdict_of(const ExplainedVerdict& verdict) {
  Json json{{"outcome", verdict.outcome}, {"status", nullptr}, {"retry_after", nullptr}};
  if (verdict.status) json["status"] = shown(verdict.hides_status, *verdict.status);
  if (verdict.grpc_status)
    json["grpc_status"] = shown(verdict.hides_grpc_status, *verdict.grpc_status);
  if (verdict.retry_after) json["retry_after"] = shown(verdict.hides_times, *verdict.retry_after);
  if (verdict.delay > Duration{0})
    json["delay"] = shown(verdict.hides_times, seconds(verdict.delay));
  if (!verdict.detail.empty()) json["detail"] = verdict.detail;
  return json;
}

Json descriptor_of(const ExplainedDescriptor& one) {
  Json json{{"entries", one.entries},
            {"matches", one.matches},
            {"because", one.because},
            {"code", nullptr},
            {"limit_remaining", nullptr}};
  if (!one.code.empty()) json["code"] = one.code;
  if (one.remaining) json["limit_remaining"] = *one.remaining;
  return json;
}

Json limits_of(const Explanation& explanation) {
  Json all = Json::array();
  for (const ExplainedLimit& limit : explanation.limits)
    all.push_back(limit_of(limit));
  return all;
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string call_text(const Explanation& explanation) {
  Json json{{"domain", explanation.call->domain}, {"descriptors", Json::array()}};
  for (const ExplainedDescriptor& one : explanation.call->descriptors)
    json["descriptors"].push_back(descriptor_of(one));
  json["limits"] = limits_of(explanation);
  json["verdict"] = verdict_of(explanation.verdict);
  return dumped(json);
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  if (explanation.call) return call_text(explanation);
  Json json{{"route", nullptr}, {"upstream", nullptr}, {"plan", nullptr}};
  if (explanation.route != nullptr) json["route"] = explanation.route->name;
  if (explanation.upstream != nullptr) json["upstream"] = explanation.upstream->name;
  if (!explanation.upstream_path.empty()) json["upstream_path"] = explanation.upstream_path;
  if (explanation.plan) {
    if (!explanation.plan->name.empty()) json["plan"] = explanation.plan->name;
    json["plan_from"] = explanation.plan->from;
  }
  if (explanation.address) json["address"] = address_of(*explanation.address);
  json["skipped"] = Json::array();
  for (const SkippedRoute& one : explanation.skipped)
    json["skipped"].push_back({{"route", one.route}, {"because", one.because}});
  json["limits"] = limits_of(explanation);
  json["verdict"] = verdict_of(explanation.verdict);
  if (explanation.original) json["original_request"] = original_of(*explanation.original);
  return dumped(json);
}

}  // namespace weir::cli
