#include "cli/route_summary.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "config/key_path.hpp"
#include "config/plan_source.hpp"

namespace weir::cli {
namespace {

using config::from_environment;
using config::item_path;
using config::key_path;
using config::Written;

std::string match_text(const Written& written, const std::string& path,
                       const routing::Match& match) {
  std::string text;
  const std::string methods = key_path(path, "methods");
  for (std::size_t i = 0; i < match.methods.size(); ++i)
    text += (text.empty() ? "" : ",") + written.shown(item_path(methods, i), match.methods[i]);
  if (text.empty()) text = "any method";
  if (match.host) text += " host " + written.shown(key_path(path, "host"), *match.host);
  text += match.path ? " path " + written.shown(key_path(path, "path"), match.path->text())
                     : " any path";
  const std::string headers = key_path(path, "headers");
  for (const auto& [name, value] : match.headers)
    text += " header " + name + ": " + written.shown(key_path(headers, name), value);
  if (match.address) text += " address in " + match.address->name();
  return text;
}

std::string address_text(const std::string& host, std::uint16_t port,
                         const std::string& unix_path = {}) {
  return Endpoint{.host = host, .port = port, .unix_path = unix_path}.to_string();
}

/// The URL is shown as written: the loader refuses a user and a password in the URL of a server.
std::string server_text(const Written& written, const std::string& path,
                        const upstream::Server& server) {
  const std::string address =
      (server.secure ? "https://" : "") + address_text(server.host, server.port);
  std::string text = written.shown(key_path(path, "url"), address);
  const std::string weight = written.shown(key_path(path, "weight"), std::to_string(server.weight));
  if (weight != "1") text += " weight " + weight;
  return text;
}

std::string servers_text(const Written& written, const upstream::Upstream& upstream) {
  const std::string path = key_path("upstreams", upstream.name);
  const std::string servers = key_path(path, "servers");
  std::string text;
  bool secure = false;
  for (std::size_t i = 0; i < upstream.servers.size(); ++i) {
    text += (text.empty() ? "" : ", ") +
            server_text(written, item_path(servers, i), upstream.servers[i]);
    secure = secure || upstream.servers[i].secure;
  }
  if (upstream.servers.size() > 1 && upstream.balance == upstream::Balance::least_connections)
    text += "; least_connections";
  if (secure && !upstream.tls.verify) text += "; certificates are not verified";
  if (const auto& check = upstream.health_check) {
    const std::string at = key_path(path, "health_check");
    text += "; checks " + written.shown(key_path(at, "path"), check->path) + " every " +
            written.shown(key_path(at, "interval"), duration_text(check->interval));
  }
  return text;
}

/// Every denial has this field, unless a policy has another value.
constexpr std::string_view no_store_line = "Cache-Control: no-store";

/// The names in field lines, except `hidden`: `, headers link, vary`.
std::string names_text(std::string_view lines, std::string_view hidden = {}) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
    if (line == hidden) continue;
    text.append(text.empty() ? ", headers " : ", ").append(line.substr(0, line.find(':')));
  }
  return text;
}

std::string respond_text(const Written& written, const std::string& path,
                         const proxy::FixedAnswer& answer) {
  const std::string body = key_path(path, "body");
  return "respond " + written.shown(key_path(path, "status"), std::to_string(answer.status)) + " " +
         written.shown(key_path(path, "content_type"), answer.content_type) + ", " +
         (written.has(body) ? "a body " + std::string(from_environment)
                            : std::to_string(answer.body.size()) + " bytes") +
         names_text(answer.fields);
}

/// `; request headers: write x-a, x-b; remove x-c`
std::string edits_text(const Written& written, const std::string& path, std::string_view what,
                       const http::FieldEdits& edits) {
  if (edits.is_empty()) return {};
  std::string text;
  for (const std::string& name : edits.written())
    text += (text.empty() ? " write " : ", ") + name;
  std::string removed;
  const std::string remove = key_path(path, "remove");
  // The names that are removed precede those that are set.
  const auto& names = edits.taken_out();
  for (std::size_t i = 0; i < names.size() && !edits.writes(names[i]); ++i)
    removed +=
        (removed.empty() ? " remove " : ", ") + written.shown(item_path(remove, i), names[i]);
  if (!text.empty() && !removed.empty()) text += ';';
  return "; " + std::string(what) + ":" + text + removed;
}

/// The changes to a request and its response.
std::string changes_text(const Written& written, const std::string& path,
                         const proxy::Route& route) {
  std::string text;
  for (const std::string key : {"strip_prefix", "path"}) {
    const std::string at = key_path(path, key);
    if (route.rewrite.is_empty() || (key == "path") == route.rewrite.strips()) continue;
    text += "; " + key + ' ' + written.shown(at, route.rewrite.text());
  }
  return text +
         edits_text(written, key_path(path, "request_headers"), "request headers",
                    route.request_edits) +
         edits_text(written, key_path(path, "response_headers"), "response headers",
                    route.response_edits);
}

std::string action_text(const config::Config& config, const std::string& path,
                        const proxy::Route& route) {
  if (route.decide) {
    std::string text = "decide: 200, 429 or another status of its policies, for another proxy";
    const bool holds = std::ranges::any_of(route.limits, [&](const limiter::Limit& limit) {
      return limiter::holds_cost(limit, config.policies[limit.policy]);
    });
    if (holds)
      text += "; units are held until it reports the end with Weir-Hold, for up to " +
              config.written.shown(key_path(path, "hold_lease"), duration_text(route.hold_lease));
    return text;
  }
  if (!route.upstream)
    return respond_text(config.written, key_path(path, "respond"), route.respond);
  const auto& upstream = config.upstreams[*route.upstream];
  return "upstream " + upstream.name + " at " + servers_text(config.written, upstream);
}

std::string planned_path(const config::Config& config, const limiter::Policy& policy,
                         const limiter::PlannedTerms& planned) {
  return key_path(key_path("plans", config.plans.names[planned.plan]), policy.name);
}

/// The rates as written, and the capacity that they and the burst give.
std::string rates_text(const std::vector<std::string>& rates, bool is_hidden,
                       const rules::Policy& numbers) {
  std::string text;
  for (const std::string& rate : rates)
    text += (text.empty() ? "" : " + ") + rate;
  if (!text.empty()) text += ", ";
  return text + (is_hidden ? std::string(from_environment) : std::to_string(numbers.capacity)) +
         " at once";
}

std::string rates_text(const Written& written, const std::string& path,
                       const rules::Policy& numbers) {
  return rates_text(rate_texts(written, path, numbers), written.hides_numbers_of(path), numbers);
}

std::string failure_text(const Written& written, const limiter::Policy& policy) {
  const std::string path = key_path("policies", policy.name);
  switch (policy.on_failure) {
    case limiter::OnFailure::allow:
      return "allow";
    case limiter::OnFailure::deny:
      return "deny";
    case limiter::OnFailure::local:
      break;
  }
  if (written.has("store.redis.replicas") || written.hides_numbers_of(path))
    return "local " + std::string(from_environment);
  return "local " + rates_text(written, path, policy.local_numbers);
}

/// `text/html or application/problem+json by Accept`
std::string types_text(const Written& written, const std::string& path,
                       const limiter::Denial& denial) {
  const auto& bodies = denial.bodies;
  if (bodies.size() == 1)
    return written.shown(key_path(path, "content_type"), bodies.front().content_type);
  std::string text;
  for (const limiter::DenialBody& one : bodies)
    text += (text.empty() ? "" : " or ") + one.content_type;
  return text + " by Accept";
}

std::string policy_text(const Written& written, const limiter::Policy& policy) {
  const auto& numbers = policy.numbers;
  const std::string path = key_path("policies", policy.name);
  std::string text =
      std::string(rules::to_string(numbers.algorithm)) + " " + rates_text(written, path, numbers);
  if (numbers.algorithm == rules::Algorithm::leaky_bucket) {
    const std::string delay = written.hides_numbers_of(path) ? std::string(from_environment)
                                                             : duration_text(numbers.max_delay);
    text += ", waits up to " + written.shown(key_path(path, "max_delay"), delay);
  }
  if (numbers.count_rejected) text += ", counts rejected";
  if (policy.shadow) text += ", shadow";
  if (policy.status != 429)
    text += ", answers " + written.shown(key_path(path, "status"), std::to_string(policy.status));
  if (!policy.denial.bodies.empty())
    text += ", denies with " + types_text(written, path, policy.denial);
  if (const auto names = names_text(policy.denial.fields, no_store_line); !names.empty())
    text += ", denials with" + names.substr(1);
  if (policy.charges_preflight) text += ", charges preflight requests";
  return text;
}

std::string identity_text(const Written& written, const identity::Definition& identity) {
  const std::string path = key_path("identities", identity.name);
  return identity.name + " (" + identity::describe(written.shown(path, identity.source)) + ")";
}

/// `; unless address in office, identity user, method GET`
std::string condition_text(const config::Config& config, const std::string& path,
                           const limiter::Condition& condition) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? " " : ", ") + part; };
  if (condition.address) add("address in " + condition.address->name());
  if (condition.identity) add("identity " + config.identities[*condition.identity].name);
  const std::string methods = key_path(path, "methods");
  std::string listed;
  for (std::size_t i = 0; i < condition.methods.size(); ++i)
    listed += (listed.empty() ? "" : " or ") +
              config.written.shown(item_path(methods, i), condition.methods[i]);
  if (!listed.empty()) add("method " + listed);
  std::string plans;
  for (const std::size_t plan : condition.plans)
    plans += (plans.empty() ? "" : " or ") + config.plans.names[plan];
  if (!plans.empty()) add("plan " + plans);
  return text;
}

std::string limit_text(const config::Config& config, const std::string& path,
                       const limiter::Limit& limit) {
  const Written& written = config.written;
  const auto& policy = config.policies[limit.policy];
  std::string text = policy.name + ": " + policy_text(written, policy) + "; key " +
                     identity_text(written, config.identities[limit.identity]);
  if (limit.otherwise)
    text += ", otherwise " + identity_text(written, config.identities[*limit.otherwise]);
  if (limit.required) text += ", required";
  text += "; cost " + written.shown(key_path(path, "cost"), std::to_string(limit.cost));
  if (limit.overdraft) text += ", overdraft";
  text += hold_text(written, path, limit, policy);
  if (limit.when) text += "; when" + condition_text(config, key_path(path, "when"), *limit.when);
  if (limit.unless)
    text += "; unless" + condition_text(config, key_path(path, "unless"), *limit.unless);
  if (config.store_type == config::StoreType::redis) {
    text += "; while redis is down: " + failure_text(written, policy);
  }
  return text;
}

std::string planned_text(const config::Config& config, const limiter::Policy& policy,
                         const limiter::PlannedTerms& planned) {
  const Written& written = config.written;
  const rules::Policy& numbers = planned.terms.numbers;
  const bool is_hidden = written.hides_numbers_of(planned_path(config, policy, planned)) ||
                         written.hides_numbers_of(key_path("policies", policy.name));
  return rates_text(rate_texts(written, rates_path(config, policy, planned), numbers), is_hidden,
                    numbers);
}

/// `per_user 6000/1m, 6000 at once; exports unlimited`
std::string plan_text(const config::Config& config, std::size_t plan) {
  std::string text;
  for (const limiter::Policy& policy : config.policies) {
    const limiter::PlannedTerms* const planned = policy.under(plan);
    if (planned == nullptr) continue;
    text += (text.empty() ? "" : "; ") + policy.name + ' ' +
            (planned->unlimited ? "unlimited" : planned_text(config, policy, *planned));
  }
  return text.empty() ? "the numbers of the policies" : text;
}

/// `header x-plan`, `file plans.tsv of api_key (12 identities)`
std::string source_text(const config::Config& config, std::size_t index) {
  const auto* const file = std::get_if<limiter::PlanFromFile>(&config.plans.sources[index].from);
  if (file == nullptr) return config::shown_plan_source(config, index);
  const std::size_t size = file->table.current().size();
  return config::shown_plan_source(config, index) + " of " +
         config.identities[file->identity].name + " (" + std::to_string(size) +
         (size == 1 ? " identity)" : " identities)");
}

/// Never shows user and password, which a URL as written may contain beside a variable.
std::string redis_text(const Written& written, const redis::Options& redis) {
  if (written.has("store.redis.url")) return std::string(from_environment);
  return address_text(redis.host, redis.port, redis.unix_path) + " database " +
         std::to_string(redis.database);
}

}  // namespace

std::string rates_path(const config::Config& config, const limiter::Policy& policy,
                       const limiter::PlannedTerms& planned) {
  const std::string path = planned_path(config, policy, planned);
  const bool has_rate = planned.terms.numbers.rates != policy.numbers.rates ||
                        config.written.has_within(key_path(path, "rate")) ||
                        config.written.has_within(key_path(path, "rates"));
  return has_rate ? path : key_path("policies", policy.name);
}

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

std::string hold_text(const Written& written, const std::string& limit_path,
                      const limiter::Limit& limit, const limiter::Policy& policy) {
  if (limiter::is_concurrency(policy)) {
    const std::string text = ", held while in progress";
    if (policy.queue == 0) return text;
    return text + ", " + std::to_string(policy.queue) + " wait for up to " +
           duration_text(policy.max_wait);
  }
  if (!limit.charge) return {};
  const limiter::Charge& charge = *limit.charge;
  const auto shown = [&](std::string_view key, const std::string& text) {
    return written.has_within(key_path(limit_path, key)) ? std::string(from_environment) : text;
  };
  std::string text;
  if (charge.reserve && limiter::reads_request(*charge.reserve))
    text = ", reserves " + shown("reserve", limiter::describe(*charge.reserve));
  text += ", held until the response";
  if (charge.by_status) {
    const bool is_hidden = written.has_within(key_path(limit_path, "charge"));
    text += ", charged for " +
            (is_hidden ? "statuses " + std::string(from_environment) : describe(*charge.by_status));
  }
  if (charge.cost_from) {
    text += ", cost from " + shown("cost_from", limiter::describe(*charge.cost_from));
    if (charge.missing_is_free) text += ", else 0";
  }
  return text;
}

std::vector<std::string> rate_texts(const Written& written, const std::string& policy_path,
                                    const rules::Policy& numbers) {
  if (numbers.algorithm == rules::Algorithm::concurrency) return {};
  const std::string single = key_path(policy_path, "rate");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.rates.size(); ++i) {
    const std::string item = item_path(key_path(policy_path, "rates"), i);
    const auto& [count, per] = numbers.rates[i];
    texts.push_back(written.shown(written.has(single) ? single : item,
                                  std::to_string(count) + "/" + duration_text(per)));
  }
  return texts;
}

void print_store(std::ostream& out, const config::Config& config) {
  const Written& written = config.written;
  const auto shown = [&written](std::string_view path, std::string value) {
    return written.shown(path, std::move(value));
  };
  if (config.store_type == config::StoreType::memory) {
    out << "store memory: up to "
        << shown("store.memory.max_keys", std::to_string(config.memory.max_keys)) << " keys\n";
    return;
  }
  const auto& redis = config.redis;
  out << "store redis at " << redis_text(written, redis) << (redis.secure ? " over TLS" : "")
      << (redis.secure && !redis.tls.verify ? ", its certificate not verified" : "") << ": keys "
      << shown("store.redis.key_prefix", redis.key_prefix) << "*, a decision within "
      << shown("store.redis.timeout", duration_text(redis.timeout)) << ", left alone for "
      << shown("store.redis.breaker.retry_after", duration_text(redis.breaker_retry_after))
      << " after " << shown("store.redis.breaker.failures", std::to_string(redis.breaker_failures))
      << " failures, replicas " << shown("store.redis.replicas", std::to_string(redis.replicas))
      << '\n';
}

void print_address_lists(std::ostream& out, const config::Config& config) {
  for (const AddressList& list : config.address_lists)
    out << "address list " << list.name() << ": " << list.size()
        << (list.size() == 1 ? " prefix\n" : " prefixes\n");
}

void print_plans(std::ostream& out, const config::Config& config) {
  const limiter::Plans& plans = config.plans;
  for (std::size_t plan = 0; plan < plans.names.size(); ++plan)
    out << "plan " << plans.names[plan] << ": " << plan_text(config, plan) << '\n';
  if (plans.names.empty()) return;
  std::string sources;
  for (std::size_t i = 0; i < plans.sources.size(); ++i)
    sources += source_text(config, i) + ", ";
  out << "plan of a request: " << sources << "else "
      << (plans.default_plan ? plans.names[*plans.default_plan] : "none") << '\n';
}

void print_routes(std::ostream& out, const config::Config& config) {
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const auto& route = config.routes[i];
    const std::string path = item_path("routes", i);
    out << "route " << route.name << ": "
        << match_text(config.written, key_path(path, "match"), route.match) << "\n  "
        << action_text(config, path, route) << changes_text(config.written, path, route) << '\n';
    if (route.limits.empty()) out << "  no limits\n";
    const std::string limits = key_path(path, "limits");
    for (std::size_t j = 0; j < route.limits.size(); ++j)
      out << "  limit " << limit_text(config, item_path(limits, j), route.limits[j]) << '\n';
  }
}

}  // namespace weir::cli
