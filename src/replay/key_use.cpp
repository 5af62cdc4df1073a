#include "replay/key_use.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace weir::replay {
namespace {

Duration window_of(const limiter::Policy& policy) {
  return policy.numbers.rates.front().per;
}

}  // namespace

KeyUse::KeyUse(const options::Proxy& proxy, const limiter::Options& limits)
    : proxy_(proxy), limits_(limits), uses_(limits.policies.size() * proxy.routes.size()) {
  for (const options::Route& route : proxy.routes)
    numbers_.push_back(static_cast<std::size_t>(
        std::ranges::find(proxy.routes, route.name, &options::Route::name) - proxy.routes.begin()));
}

void KeyUse::count(const limiter::Verdict& verdict, const Decided& request) {
  for (const limiter::LimitVerdict& limit : verdict.limits) {
    const limiter::Policy& policy = *limit.policy;
    const auto index = static_cast<std::size_t>(&policy - limits_.policies.data());
    const bool is_denied = !limit.decision.allowed;
    Use& use = use_of(index, request.route);
    ++use.requests;
    use.denied += is_denied ? 1 : 0;

    Counts& key = keys_[{.identity = limit.identity,
                         .policy = static_cast<std::uint32_t>(index),
                         .identity_index = static_cast<std::uint32_t>(limit.identity_index)}];
    if (key.use.requests++ == 0) {
      key.client = request.client;
      const std::string& name = limits_.identities[limit.identity_index].name;
      const auto logged = std::ranges::find(request.logged, name, &LoggedIdentity::name);
      if (logged != request.logged.end()) key.logged = logged->hash;
    }
    if (is_denied && key.use.denied++ == 0) key.first_denied_at = request.at;
    if (limiter::is_concurrency(policy)) {
      const std::int64_t used = limit.decision.limit - limit.decision.remaining;
      key.peak = std::max(key.peak, used + (is_denied ? limit.cost : 0));
      continue;
    }
    const std::int64_t window = to_us(request.at) / to_us(window_of(policy));
    if (std::exchange(key.window, window) != window) key.in_window = 0;
    key.in_window += limit.cost;
    key.peak = std::max(key.peak, key.in_window);
  }
}

Use& KeyUse::use_of(std::size_t policy, std::size_t route) {
  return uses_[policy * proxy_.routes.size() + numbers_[route]];
}

void KeyUse::add_to(Report& report, std::size_t most_keys) const {
  for (std::size_t policy = 0; policy < limits_.policies.size(); ++policy) {
    const limiter::Policy& one = limits_.policies[policy];
    report.policies.push_back({.policy = one.name});
    for (std::size_t route = 0; route < proxy_.routes.size(); ++route) {
      const Use& use = uses_[policy * proxy_.routes.size() + route];
      if (use.requests == 0) continue;
      report.routes.push_back({.policy = one.name,
                               .is_shadow = one.shadow,
                               .route = proxy_.routes[route].name,
                               .use = use});
    }
  }
  using Entry = std::pair<const Key, Counts>;
  std::vector<const Entry*> denied;
  for (const Entry& one : keys_) {
    PolicyReport& policy = report.policies[one.first.policy];
    ++policy.keys;
    if (one.second.use.denied == 0) continue;
    ++policy.denied_keys;
    denied.push_back(&one);
  }
  // The same order in every run: the table has none.
  const auto comes_first = [](const Entry* a, const Entry* b) {
    const auto order = [](const Entry& entry) {
      return std::tuple(~entry.second.use.denied, entry.first.policy, entry.first.identity);
    };
    return order(*a) < order(*b);
  };
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most_keys, denied.size()));
  std::ranges::partial_sort(denied, denied.begin() + shown, comes_first);
  denied.resize(static_cast<std::size_t>(shown));
  for (const Entry* const one : denied)
    report.keys.push_back(report_of(one->first, one->second));
}

KeyReport KeyUse::report_of(const Key& key, const Counts& counts) const {
  const limiter::Policy& policy = limits_.policies[key.policy];
  const identity::Definition& identity = limits_.identities[key.identity_index];
  KeyReport report{.policy = policy.name,
                   .identity = identity.name,
                   .hash = counts.logged.value_or(key.identity),
                   .use = counts.use,
                   .peak = counts.peak,
                   .first_denied_at = counts.first_denied_at};
  if (!limiter::is_concurrency(policy)) report.window = window_of(policy);
  report.address = address_of(key, counts);
  return report;
}

/// Empty: the identity is not the client's address.
std::optional<std::string> KeyUse::address_of(const Key& key, const Counts& counts) const {
  const identity::Definition& identity = limits_.identities[key.identity_index];
  if (!std::holds_alternative<identity::FromClientAddress>(identity.source.from))
    return std::nullopt;
  const identity::ClientAddressOptions& settings = proxy_.client_address;
  return counts.client.masked(settings.ipv4_prefix, settings.ipv6_prefix).to_string();
}

void KeyUse::name_keys(std::vector<FlippedKeyReport>& keys) const {
  std::vector<bool> is_named(keys.size());
  for (const auto& [key, counts] : keys_) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (is_named[i] || !(keys[i].hash == key.identity)) continue;
      is_named[i] = true;
      keys[i].address = address_of(key, counts);
      keys[i].hash = counts.logged.value_or(key.identity);
    }
  }
}

}  // namespace weir::replay
