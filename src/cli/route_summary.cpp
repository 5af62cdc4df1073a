#include "cli/route_summary.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace weir::cli {
namespace {

std::string match_text(const routing::Match& match) {
  std::string text;
  for (const auto& method : match.methods)
    text += (text.empty() ? "" : ",") + method;
  if (text.empty()) text = "any method";
  if (match.host) text += " host " + *match.host;
  text += match.path ? " path " + match.path->text() : " any path";
  for (const auto& [name, value] : match.headers)
    text.append(" header ").append(name).append(": ").append(value);
  return text;
}

std::string address_text(const std::string& host, std::uint16_t port,
                         const std::string& unix_path = {}) {
  return config::Endpoint{.host = host, .port = port, .unix_path = unix_path}.to_string();
}

/// Host and port only: the URL may carry a password.
std::string servers_text(const config::Upstream& upstream) {
  std::string text;
  bool secure = false;
  for (const auto& server : upstream.servers) {
    text += (text.empty() ? "" : ", ") + std::string(server.secure ? "https://" : "");
    text += address_text(server.host, server.port);
    if (server.weight != 1) text += " weight " + std::to_string(server.weight);
    secure = secure || server.secure;
  }
  if (upstream.servers.size() > 1 && upstream.balance == config::Balance::least_connections)
    text += "; least_connections";
  if (secure && !upstream.tls.verify) text += "; certificates are not verified";
  if (const auto& check = upstream.health_check)
    text += "; asked for " + check->path + " every " + duration_text(check->interval);
  return text;
}

std::string action_text(const config::Config& config, const config::Route& route) {
  if (route.decide) return "decide: 200, 429 or another status of its policies, for another proxy";
  if (!route.upstream) {
    return "respond " + std::to_string(route.respond.status) + " " + route.respond.content_type +
           ", " + std::to_string(route.respond.body.size()) + " bytes";
  }
  const auto& upstream = config.upstreams[*route.upstream];
  return "upstream " + upstream.name + " at " + servers_text(upstream);
}

std::string rates_text(const rules::Policy& rule) {
  std::string text;
  for (std::size_t i = 0; i < rule.rates.size(); ++i) {
    text += i == 0 ? "" : " + ";
    text += std::to_string(rule.rates[i].count) + "/" + duration_text(rule.rates[i].per);
  }
  return text + ", " + std::to_string(rule.capacity) + " at once";
}

std::string failure_text(const config::Policy& policy) {
  switch (policy.on_failure) {
    case config::OnFailure::allow:
      return "allow";
    case config::OnFailure::deny:
      return "deny";
    case config::OnFailure::local:
      break;
  }
  return "local " + rates_text(policy.local_rule);
}

std::string policy_text(const config::Policy& policy) {
  const auto& rule = policy.rule;
  std::string text = std::string(rules::to_string(rule.algorithm)) + " " + rates_text(rule);
  if (rule.algorithm == rules::Algorithm::leaky_bucket) {
    text += ", waits up to " + duration_text(rule.max_delay);
  }
  if (rule.count_rejected) text += ", counts rejected";
  if (policy.shadow) text += ", shadow";
  if (policy.status != 429) text += ", answers " + std::to_string(policy.status);
  return text;
}

std::string identity_text(const config::Identity& identity) {
  return identity.name + " (" + identity::describe(identity.source) + ")";
}

std::string limit_text(const config::Config& config, const config::Limit& limit) {
  const auto& policy = config.policies[limit.policy];
  std::string text = policy.name + ": " + policy_text(policy) + "; key " +
                     identity_text(config.identities[limit.identity]);
  if (limit.otherwise) text += ", otherwise " + identity_text(config.identities[*limit.otherwise]);
  if (limit.required) text += ", required";
  text += "; cost " + std::to_string(limit.cost);
  if (limit.overdraft) text += ", overdraft";
  if (config.store_type == config::StoreType::redis) {
    text += "; while redis is down: " + failure_text(policy);
  }
  return text;
}

}  // namespace

std::string duration_text(Duration duration) {
  using namespace std::chrono_literals;
  constexpr std::array<std::pair<Duration, std::string_view>, 5> units{
      {{24h, "d"}, {1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}}};
  if (duration == Duration{0}) return "0s";
  for (const auto& [unit, name] : units) {
    if (duration % unit == Duration{0}) return std::to_string(duration / unit) + std::string(name);
  }
  return std::to_string(to_us(duration)) + "us";
}

void print_store(std::ostream& out, const config::Config& config) {
  if (config.store_type == config::StoreType::memory) {
    out << "store memory: up to " << config.memory.max_keys << " keys\n";
    return;
  }
  // Never user and password.
  const auto& redis = config.redis;
  out << "store redis at " << address_text(redis.host, redis.port, redis.unix_path) << " database "
      << redis.database << (redis.secure ? " over TLS" : "")
      << (redis.secure && !redis.tls.verify ? ", its certificate not verified" : "") << ": keys "
      << redis.key_prefix << "*, a decision within " << duration_text(redis.timeout)
      << ", left alone for " << duration_text(redis.breaker_retry_after) << " after "
      << redis.breaker_failures << " failures, replicas " << redis.replicas << '\n';
}

void print_routes(std::ostream& out, const config::Config& config) {
  for (const auto& route : config.routes) {
    out << "route " << route.name << ": " << match_text(route.match) << "\n  "
        << action_text(config, route) << '\n';
    if (route.limits.empty()) out << "  no limits\n";
    for (const auto& limit : route.limits)
      out << "  limit " << limit_text(config, limit) << '\n';
  }
}

}  // namespace weir::cli
