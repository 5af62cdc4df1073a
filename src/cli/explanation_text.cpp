#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "cli/explanation.hpp"
#include "cli/route_summary.hpp"

namespace weir::cli {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t indent = 12;  // of the text after a label
constexpr std::size_t most_skipped = 20;

/// Appends a label and its text in lines of `width`; words are not divided.
void add_row(std::string& out, std::string_view label, std::string_view text) {
  std::string line(label);
  line.resize(std::max(indent, label.size() + 1), ' ');
  bool is_begun = false;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (is_begun && line.size() + 1 + word.size() > width) {
      out.append(line).append("\n");
      line.assign(indent, ' ');
    } else if (is_begun) {
      line += ' ';
    }
    line += word;
    is_begun = true;
  }
  out.append(line).append("\n");
}

std::string number(bool is_hidden, std::int64_t value) {
  return config::unless_hidden(is_hidden, std::to_string(value));
}

/// Milliseconds below a second, else tenths of seconds; rounded up.
std::string time(bool is_hidden, Duration duration) {
  if (is_hidden) return std::string(config::from_environment);
  const std::int64_t us = to_us(duration);
  if (us < 1'000'000) return std::to_string((us + 999) / 1000) + " ms";
  const std::int64_t tenths = (us + 99'999) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string explained_policy(const ExplainedLimit& limit) {
  const rules::Policy& numbers = limit.numbers;
  std::string text = limit.policy->name;
  text.append(": ").append(rules::to_string(numbers.algorithm));
  if (limit.is_unlimited || limit.is_denied) {
    text += limit.is_denied ? " denied" : " unlimited";
    return text.append(" (from the ").append(limit.numbers_from).append(")");
  }
  std::string_view separator = " ";
  for (const std::string& rate : limit.rates) {
    text.append(separator).append(rate);
    separator = " + ";
  }
  text += ", " + number(limit.hides_numbers, numbers.capacity) + " at once";
  if (numbers.algorithm == rules::Algorithm::leaky_bucket)
    text += ", waits up to " + time(limit.hides_numbers, numbers.max_delay);
  if (limit.policy->shadow) text += ", shadow";
  return text.append(" (from the ").append(limit.numbers_from).append(")");
}

std::string key_text(const ExplainedIdentity& identity) {
  std::string text(identity.name);
  text += " (" + identity.source + ')';
  if (!identity.hash) return text;
  text += " hash ";
  append_hex(text, *identity.hash);
  return text;
}

std::string decision_text(const ExplainedLimit& limit) {
  if (limit.is_denied)
    return limit.numbers_from == "file" ? "denied, requests_per_unit is 0"
                                        : "denied by an override";
  const rules::Decision& decision = *limit.decision;
  const bool is_hidden = limit.hides_decision();
  std::string text = decision.allowed ? "allowed, " : "denied, ";
  text += number(is_hidden, decision.remaining) + " remaining";
  if (decision.delay > Duration{0}) text += ", waits " + time(is_hidden, decision.delay);
  if (decision.reset_after > Duration{0})
    text += ", all of it again after " + time(is_hidden, decision.reset_after);
  if (decision.allowed) return text;
  return text + (decision.retry_after ? ", retry after " + time(is_hidden, *decision.retry_after)
                                      : ", never succeeds: the cost is above the limit");
}

/// `5 of 20 left, 3 held, the next after 2.0 s, all of it again after 61.7 s (redis)`.
std::string live_text(const LiveState& live) {
  if (!live.problem.empty()) return "unknown: " + live.problem;
  const std::string source = (live.from == "override" ? "an " : "the ") + live.from;
  if (live.is_denied) return "denied by " + source;
  if (live.is_unlimited) return "unlimited by " + source;
  std::string text = std::to_string(live.remaining) + " of " + std::to_string(live.limit) + " left";
  if (live.from != "policy") text += " (limit of " + source + ")";
  if (live.held > 0) text += ", " + std::to_string(live.held) + " held";
  if (live.retry_after) text += ", the next after " + time(false, *live.retry_after);
  if (live.reset_after > Duration{0})
    text += ", all of it again after " + time(false, live.reset_after);
  return text + " (" + live.store + ")";
}

void add_limit(std::string& out, const Explanation& explanation, const ExplainedLimit& limit) {
  out += '\n';
  add_row(out, "limit", explained_policy(limit));
  if (limit.route != explanation.route)
    add_row(out, "  route", limit.route->name + ", for another reading of the path");
  add_row(out, "  applies", (limit.decision ? "yes: " : "no: ") + limit.because);
  add_row(out, "  key", key_text(limit.identity));
  if (limit.decision) {
    add_row(out, "  cost", number(limit.hides_cost, limit.cost) + limit.held_until);
    add_row(out, "  answer", decision_text(limit));
  }
  if (limit.live) add_row(out, "  now", live_text(*limit.live));
}

void add_call(std::string& out, const ExplainedCall& call) {
  add_row(out, "domain", call.domain);
  for (const ExplainedDescriptor& one : call.descriptors) {
    add_row(out, "descriptor", one.entries);
    std::string matches;
    for (const std::string& text : one.matches)
      matches.append(matches.empty() ? "" : " > ").append(text);
    add_row(out, "  matches", (matches.empty() ? "none" : matches) + "; " + one.because);
    std::string status(one.code);
    constexpr auto unlimited = std::numeric_limits<std::uint32_t>::max();
    if (one.remaining)
      status += *one.remaining == unlimited ? ", unlimited"
                                            : ", " + std::to_string(*one.remaining) + " remaining";
    if (!status.empty()) add_row(out, "  status", status);
  }
}

void add_request(std::string& out, const Explanation& explanation) {
  const ExplainedRequest& request = explanation.request;
  add_row(out, "request", request.method + ' ' + request.path);
  if (!request.host.empty()) add_row(out, "host", request.host);
  add_row(out, "client", explanation.client);
  if (!explanation.original) return;
  const ExplainedRequest& original = explanation.original->request;
  add_row(out, "original", original.method + ' ' + original.path);
  if (!original.host.empty()) add_row(out, "  host", original.host);
  add_row(out, "  because", explanation.original->because);
}

std::string explained_plan(const ExplainedPlan& plan) {
  return (plan.name.empty() ? "none" : std::string(plan.name)) + " (" + plan.from + ')';
}

std::string route_text(const Explanation& explanation) {
  if (explanation.route == nullptr) return "none";
  return explanation.route->name +
         (explanation.route->decide ? " (decides for another proxy)" : "");
}

void add_skipped(std::string& out, const std::vector<SkippedRoute>& skipped) {
  std::string_view label = "skipped";
  for (std::size_t i = 0; i < std::min(skipped.size(), most_skipped); ++i) {
    add_row(out, label, std::string(skipped[i].route) + ": " + skipped[i].because);
    label = "";
  }
  if (skipped.size() > most_skipped)
    add_row(out, "",
            "and " + std::to_string(skipped.size() - most_skipped) + " more; --json lists all");
}

/// True if no limit denies the request, and the route has a fixed response.
bool is_answered_by_route(const Explanation& explanation) {
  const std::string_view outcome = explanation.verdict.outcome;
  return explanation.route != nullptr && explanation.upstream == nullptr &&
         !explanation.route->decide && outcome != "denied" && outcome != "refused";
}

std::string verdict_text(const Explanation& explanation) {
  const ExplainedVerdict& verdict = explanation.verdict;
  std::string text(verdict.outcome);
  if (verdict.delay > Duration{0}) text += " by " + time(verdict.hides_times, verdict.delay);
  if (verdict.status) {
    text +=
        is_answered_by_route(explanation) ? ", answered by the route with status " : ", status ";
    text += number(verdict.hides_status, *verdict.status);
    if (verdict.grpc_status)
      text += " (grpc-status " + number(verdict.hides_grpc_status, *verdict.grpc_status) + ")";
  }
  if (explanation.upstream != nullptr && !verdict.status && verdict.outcome != "unknown")
    text += ", forwarded to " + explanation.upstream->name;
  if (verdict.retry_after)
    text += ", Retry-After: " + number(verdict.hides_times, *verdict.retry_after);
  if (!verdict.detail.empty()) text += ": " + verdict.detail;
  return text;
}

/// The request, its client and its route.
void add_route(std::string& out, const Explanation& explanation) {
  add_request(out, explanation);
  add_row(out, "route", route_text(explanation));
  if (explanation.address)
    add_row(out, "  address",
            "in " + explanation.address->list + ", " + explanation.address->prefix);
  if (explanation.upstream != nullptr) add_row(out, "upstream", explanation.upstream->name);
  if (!explanation.upstream_path.empty()) add_row(out, "  path", explanation.upstream_path);
  if (explanation.plan) add_row(out, "plan", explained_plan(*explanation.plan));
  add_skipped(out, explanation.skipped);
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string out;
  if (explanation.call) {
    add_call(out, *explanation.call);
  } else {
    add_route(out, explanation);
  }
  for (const ExplainedLimit& limit : explanation.limits)
    add_limit(out, explanation, limit);
  out += '\n';
  add_row(out, "verdict", verdict_text(explanation));
  return out;
}

}  // namespace weir::cli
