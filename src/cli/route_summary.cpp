#include "cli/route_summary.hpp"

#include <algorithm>
#include <string_view>

#include "config/values.hpp"
#include "limiter/local_shares.hpp"

namespace weir::cli {
namespace {

using config::Shown;
using config::unless_hidden;

/// The text of each item, separated by `separator`.
template <class Items, class TextOf>
std::string joined(const Items& items, std::string_view separator, TextOf&& text_of) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text.append(i == 0 ? "" : separator).append(text_of(i));
  return text;
}

std::string match_text(const Shown& shown, const routing::Match& match) {
  std::string text = joined(match.methods, ",",
                            [&](std::size_t i) { return shown["methods"][i](match.methods[i]); });
  if (text.empty()) text = "any method";
  if (match.host) text += " host " + shown["host"](*match.host);
  text += match.path ? " path " + shown["path"](match.path->text()) : " any path";
  for (const auto& [name, value] : match.headers)
    text += " header " + name + ": " + shown["headers"][name](value);
  if (match.address) text += " address in " + match.address->name();
  return text;
}

std::string address_text(const std::string& host, std::uint16_t port,
                         const std::string& unix_path = {}) {
  return Endpoint{.host = host, .port = port, .unix_path = unix_path}.to_string();
}

/// The URL is shown as written: the loader refuses a user and a password in the URL of a server.
std::string server_text(const Shown& shown, const options::Server& server) {
  const std::string address =
      (server.secure ? "https://" : "") + address_text(server.host, server.port);
  std::string text = shown["url"](address);
  const std::string weight = shown["weight"](server.weight);
  if (weight != "1") text += " weight " + weight;
  return text;
}

std::string servers_text(const Shown& shown, const options::Upstream& upstream) {
  std::string text;
  bool secure = false;
  for (std::size_t i = 0; i < upstream.servers.size(); ++i) {
    text += (text.empty() ? "" : ", ") + server_text(shown["servers"][i], upstream.servers[i]);
    secure = secure || upstream.servers[i].secure;
  }
  if (upstream.servers.size() > 1 && upstream.balance == options::Balance::least_connections)
    text += "; least_connections";
  if (secure && !upstream.tls.verify) text += "; certificates are not verified";
  if (const auto& check = upstream.health_check) {
    const Shown shown_check = shown["health_check"];
    text += "; checks " + shown_check["path"](check->path) + " every " +
            shown_check["interval"](check->interval);
  }
  return text;
}

/// Every denial has this field, unless a policy has another value.
constexpr http::Field no_store{"Cache-Control", "no-store"};

/// The names of the fields, except `hidden`: `, headers link, vary`.
std::string names_text(const http::FieldSection& fields, http::Field hidden = {}) {
  std::string text;
  for (const http::Field field : fields) {
    if (field == hidden) continue;
    text.append(text.empty() ? ", headers " : ", ").append(field.name);
  }
  return text;
}

std::string respond_text(const Shown& shown, const options::FixedAnswer& answer) {
  return "respond " + shown["status"](answer.status) + " " +
         shown["content_type"](answer.content_type) + ", " +
         (shown["body"].is_hidden() ? "a body " + std::string(config::from_environment)
                                    : std::to_string(answer.body.size()) + " bytes") +
         names_text(answer.fields);
}

/// `; request headers: write x-a, x-b; remove x-c`
std::string edits_text(const Shown& shown, std::string_view what, const http::FieldEdits& edits) {
  if (edits.is_empty()) return {};
  std::string text;
  for (const http::Field field : edits.added())
    text.append(text.empty() ? " write " : ", ").append(field.name);
  std::string removed;
  // The names that are removed precede those that are set.
  const auto& names = edits.taken_out();
  for (std::size_t i = 0; i < names.size() && !edits.writes(names[i]); ++i)
    removed += (removed.empty() ? " remove " : ", ") + shown["remove"][i](names[i]);
  if (!text.empty() && !removed.empty()) text += ';';
  return "; " + std::string(what) + ":" + text + removed;
}

/// The changes to a request and its response.
std::string changes_text(const Shown& shown, const options::Route& route) {
  std::string text;
  if (!route.rewrite.is_empty()) {
    const std::string key = route.rewrite.strips() ? "strip_prefix" : "path";
    text = "; " + key + ' ' + shown[key](route.rewrite.text());
  }
  return text + edits_text(shown["request_headers"], "request headers", route.request_edits) +
         edits_text(shown["response_headers"], "response headers", route.response_edits);
}

std::string action_text(const config::Config& config, const Shown& shown,
                        const options::Route& route) {
  if (route.decide) {
    std::string text = "decide: 200, 429 or another status of its policies, for another proxy";
    const bool holds = std::ranges::any_of(route.limits, [&](const limiter::Limit& limit) {
      return limiter::holds_cost(limit, config.limiter.policies[limit.policy]);
    });
    if (holds)
      text += "; units are held until it reports the end with Weir-Hold, for up to " +
              shown["hold_lease"](route.hold_lease);
    return text;
  }
  if (!route.upstream) return respond_text(shown["respond"], route.respond);
  const auto& upstream = config.upstreams[*route.upstream];
  return "upstream " + upstream.name + " at " +
         servers_text(config.shown()["upstreams"][upstream.name], upstream);
}

/// The rates as written, and the capacity that they and the burst give.
std::string rates_text(const std::vector<std::string>& rates, bool is_hidden,
                       const rules::Policy& numbers) {
  std::string text = joined(rates, " + ", [&](std::size_t i) { return rates[i]; });
  if (!text.empty()) text += ", ";
  return text + unless_hidden(is_hidden, std::to_string(numbers.capacity)) + " at once";
}

std::string rates_text(const Shown& shown, const rules::Policy& numbers) {
  return rates_text(rate_texts(shown, numbers), shown.hides_numbers(), numbers);
}

std::string failure_text(const config::Config& config, const limiter::Policy& policy) {
  switch (policy.on_failure) {
    case limiter::OnFailure::allow:
      return "allow";
    case limiter::OnFailure::deny:
      return "deny";
    case limiter::OnFailure::local:
      break;
  }
  const Shown shown = shown_policy(config, policy);
  const bool is_hidden =
      config.shown()["store"]["redis"]["replicas"].is_hidden() || shown.hides_numbers();
  if (!config.redis.replicas) return "local, the quota divided by the instances";
  const auto share = limiter::local_share(policy, policy.numbers, config.fixed_replicas());
  return "local " + unless_hidden(is_hidden, rates_text(shown, share.value()));
}

/// `text/html or application/problem+json by Accept`
std::string types_text(const Shown& shown, const limiter::Denial& denial) {
  const auto& bodies = denial.bodies;
  if (bodies.size() == 1) return shown["content_type"](bodies.front().content_type);
  return joined(bodies, " or ", [&](std::size_t i) { return bodies[i].content_type; }) +
         " by Accept";
}

}  // namespace

std::string policy_text(const Shown& shown, const limiter::Policy& policy) {
  const auto& numbers = policy.numbers;
  std::string text =
      std::string(rules::to_string(numbers.algorithm)) + " " + rates_text(shown, numbers);
  if (numbers.algorithm == rules::Algorithm::leaky_bucket)
    text +=
        ", waits up to " + shown["max_delay"](unless_hidden(
                               shown.hides_numbers(), config::format_duration(numbers.max_delay)));
  if (numbers.count_rejected) text += ", counts rejected";
  if (policy.shadow) text += ", shadow";
  if (policy.status != 429) text += ", answers " + shown["status"](policy.status);
  if (!policy.denial.bodies.empty()) text += ", denies with " + types_text(shown, policy.denial);
  if (const auto names = names_text(policy.denial.fields, no_store); !names.empty())
    text += ", denials with" + names.substr(1);
  if (policy.charges_preflight) text += ", charges preflight requests";
  return text;
}

namespace {

std::string identity_text(const config::Config& config, std::size_t index) {
  const identity::Definition& identity = config.limiter.identities[index];
  return identity.name + " (" +
         identity::describe(config.shown()["identities"][identity.name](identity.source)) + ")";
}

/// `; unless address in office, identity user, method GET`
std::string condition_text(const config::Config& config, const Shown& shown,
                           const limiter::Condition& condition) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? " " : ", ") + part; };
  if (condition.address) add("address in " + condition.address->name());
  if (condition.identity) add("identity " + config.limiter.identities[*condition.identity].name);
  const auto& methods = condition.methods;
  if (!methods.empty())
    add("method " +
        joined(methods, " or ", [&](std::size_t i) { return shown["methods"][i](methods[i]); }));
  const auto& plans = condition.plans;
  if (!plans.empty())
    add("plan " +
        joined(plans, " or ", [&](std::size_t i) { return config.limiter.plans.names[plans[i]]; }));
  return text;
}

std::string limit_text(const config::Config& config, const Shown& shown,
                       const limiter::Limit& limit) {
  const auto& policy = config.limiter.policies[limit.policy];
  std::string text = policy.name + ": " + policy_text(shown_policy(config, policy), policy) +
                     "; key " + identity_text(config, limit.identity);
  if (limit.otherwise) text += ", otherwise " + identity_text(config, *limit.otherwise);
  if (limit.required) text += ", required";
  text += "; cost " + shown["cost"](limit.cost);
  if (limit.overdraft) text += ", overdraft";
  text += hold_text(shown, limit, policy);
  if (limit.when) text += "; when" + condition_text(config, shown["when"], *limit.when);
  if (limit.unless) text += "; unless" + condition_text(config, shown["unless"], *limit.unless);
  if (config.store_type == config::StoreType::redis)
    text += "; while redis is down: " + failure_text(config, policy);
  return text;
}

std::string planned_text(const config::Config& config, const limiter::Policy& policy,
                         const limiter::PlannedTerms& planned) {
  const rules::Policy& numbers = planned.terms.numbers;
  const bool is_hidden = shown_terms(config, policy, planned).hides_numbers() ||
                         shown_policy(config, policy).hides_numbers();
  return rates_text(rate_texts(shown_rates(config, policy, planned), numbers), is_hidden, numbers);
}

/// `per_user 6000/1m, 6000 at once; exports unlimited`
std::string plan_text(const config::Config& config, std::size_t plan) {
  std::string text;
  for (const limiter::Policy& policy : config.limiter.policies) {
    const limiter::PlannedTerms* const planned = policy.under(plan);
    if (planned == nullptr) continue;
    text += (text.empty() ? "" : "; ") + policy.name + ' ' +
            (planned->unlimited ? "unlimited" : planned_text(config, policy, *planned));
  }
  return text.empty() ? "the numbers of the policies" : text;
}

/// `header x-plan`, `file plans.tsv of api_key (12 identities)`
std::string source_text(const config::Config& config, std::size_t index) {
  const limiter::PlanSource& source = config.limiter.plans.sources[index];
  const std::string shown = config.shown()["plan_from"][index](source);
  const auto* const file = std::get_if<limiter::PlanFromFile>(&source.from);
  if (file == nullptr) return shown;
  const std::size_t size = file->table.current().size();
  return shown + " of " + config.limiter.identities[file->identity].name + " (" +
         std::to_string(size) + (size == 1 ? " identity)" : " identities)");
}

/// Never shows user and password, which a URL as written may contain beside a variable.
std::string redis_text(const Shown& shown, const options::Redis& redis) {
  if (redis.topology == options::RedisTopology::sentinel) {
    const std::string count = std::to_string(redis.servers.size());
    return "the master " + shown["sentinel_master"](redis.sentinel_master) + " of " + count +
           (redis.servers.size() == 1 ? " sentinel" : " sentinels") + ", database " +
           std::to_string(redis.database);
  }
  if (redis.topology == options::RedisTopology::cluster) {
    const std::string count = std::to_string(redis.servers.size());
    return "the cluster of " + count + (redis.servers.size() == 1 ? " server" : " servers") +
           " in the configuration";
  }
  return unless_hidden(shown["url"].is_hidden(),
                       address_text(redis.host, redis.port, redis.unix_path) + " database " +
                           std::to_string(redis.database));
}

}  // namespace

Shown shown_policy(const config::Config& config, const limiter::Policy& policy) {
  return config.shown()["policies"][policy.name];
}

Shown shown_terms(const config::Config& config, const limiter::Policy& policy,
                  const limiter::PlannedTerms& planned) {
  return config.shown()["plans"][config.limiter.plans.names[planned.plan]][policy.name];
}

Shown shown_rates(const config::Config& config, const limiter::Policy& policy,
                  const limiter::PlannedTerms& planned) {
  const Shown shown = shown_terms(config, policy, planned);
  const bool has_rate = planned.terms.numbers.rates != policy.numbers.rates ||
                        shown["rate"].is_hidden() || shown["rates"].is_hidden();
  return has_rate ? shown : shown_policy(config, policy);
}

std::string hold_text(const Shown& shown, const limiter::Limit& limit,
                      const limiter::Policy& policy) {
  if (limiter::is_concurrency(policy)) {
    const std::string text = ", held while in progress";
    if (policy.queue == 0) return text;
    return text + ", " + std::to_string(policy.queue) + " wait for up to " +
           config::format_duration(policy.max_wait);
  }
  if (!limit.charge) return {};
  const limiter::Charge& charge = *limit.charge;
  std::string text;
  if (charge.reserve && limiter::reads_request(*charge.reserve))
    text = ", reserves " +
           unless_hidden(shown["reserve"].is_hidden(), limiter::describe(*charge.reserve));
  text += ", held until the response";
  if (charge.by_status || charge.by_grpc_status) {
    const bool is_hidden = shown["charge"].is_hidden();
    text += ", charged for ";
    text += is_hidden ? "statuses " : "";
    text += unless_hidden(is_hidden, limiter::describe_statuses(charge));
  }
  if (charge.cost_from) {
    text += ", cost from " +
            unless_hidden(shown["cost_from"].is_hidden(), limiter::describe(*charge.cost_from));
    if (charge.missing_is_free) text += ", else 0";
  }
  return text;
}

std::vector<std::string> rate_texts(const Shown& shown, const rules::Policy& numbers) {
  if (numbers.algorithm == rules::Algorithm::concurrency) return {};
  const Shown single = shown["rate"];
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.rates.size(); ++i) {
    const auto& [count, per] = numbers.rates[i];
    const std::string rate = std::to_string(count) + "/" + config::format_duration(per);
    texts.push_back(single.is_hidden() ? single(rate) : shown["rates"][i](rate));
  }
  return texts;
}

void print_store(std::ostream& out, const config::Config& config) {
  const Shown shown = config.shown()["store"]["redis"];
  if (config.store_type == config::StoreType::memory) {
    out << "store memory: up to "
        << config.shown()["store"]["memory"]["max_keys"](std::to_string(config.memory.max_keys))
        << " keys\n";
    return;
  }
  const auto& redis = config.redis;
  out << "store redis at " << redis_text(shown, redis.connection)
      << (redis.connection.secure ? " over TLS" : "")
      << (redis.connection.secure && !redis.connection.tls.verify ? ", its certificate not verified"
                                                                  : "")
      << ": keys " << shown["key_prefix"](redis.connection.key_prefix) << "*, a decision within "
      << shown["timeout"](redis.connection.timeout) << ", left alone for "
      << shown["breaker"]["retry_after"](redis.breaker_retry_after) << " after "
      << shown["breaker"]["failures"](redis.breaker_failures) << " failures, replicas "
      << shown["replicas"](redis.replicas ? std::to_string(*redis.replicas) : "auto");
  if (redis.lease_share > 0)
    out << ", leases of up to " << shown["leases"]["share"](std::to_string(redis.lease_share))
        << " % for " << shown["leases"]["duration"](redis.lease_duration);
  out << '\n';
}

void print_address_lists(std::ostream& out, const config::Config& config) {
  for (const AddressList& list : config.limiter.address_lists)
    out << "address list " << list.name() << ": " << list.size()
        << (list.size() == 1 ? " prefix\n" : " prefixes\n");
}

void print_plans(std::ostream& out, const config::Config& config) {
  const limiter::Plans& plans = config.limiter.plans;
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
  for (std::size_t i = 0; i < config.proxy.routes.size(); ++i) {
    const auto& route = config.proxy.routes[i];
    const Shown shown = config.shown()["routes"][i];
    out << "route " << route.name << ": " << match_text(shown["match"], route.match) << "\n  "
        << action_text(config, shown, route) << changes_text(shown, route) << '\n';
    if (route.limits.empty()) out << "  no limits\n";
    for (std::size_t j = 0; j < route.limits.size(); ++j)
      out << "  limit " << limit_text(config, shown["limits"][j], route.limits[j]) << '\n';
  }
}

}  // namespace weir::cli
