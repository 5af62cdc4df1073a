#include "admin/policy_metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::admin {
namespace {

void write_decisions(Exposition& out, const Instruments& in) {
  using limiter::PolicyCounters;
  constexpr std::array<std::pair<std::string_view, Counter PolicyCounters::*>, 5> outcomes{{
      {"allowed", &PolicyCounters::allowed},
      {"denied", &PolicyCounters::denied},
      {"shadow_denied", &PolicyCounters::shadow_denied},
      {"delayed", &PolicyCounters::delayed},
      {"error", &PolicyCounters::error},
  }};
  out.family("weir_decisions_total", "counter", "Decisions, by policy and outcome.");
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i) {
    for (const auto& [outcome, counter] : outcomes) {
      out.sample({{"policy", in.limiter.policies[i].name}, {"outcome", outcome}},
                 total(in.policies, [&, counted = counter](const auto& policies) {
                   return (policies[i].get()->*counted).value();
                 }));
    }
  }
}

/// True if a limit of a route holds units of this policy.
bool has_holds(const Instruments& in, std::size_t policy) {
  return std::ranges::any_of(in.proxy.routes, [&](const auto& route) {
    return std::ranges::any_of(route.limits, [&](const limiter::Limit& limit) {
      return limit.policy == policy && limiter::holds_cost(limit, in.limiter.policies[policy]);
    });
  });
}

void write_gauge(Exposition& out, const Instruments& in, const std::vector<std::size_t>& policies,
                 Gauge limiter::PolicyCounters::*gauge) {
  for (const std::size_t i : policies) {
    out.sample({{"policy", in.limiter.policies[i].name}},
               total(in.policies,
                     [&](const auto& counters) { return (counters[i].get()->*gauge).value(); }));
  }
}

void write_leases(Exposition& out, const Instruments& in) {
  bool is_first = true;
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i) {
    if (!in.limiter.policies[i].lease) continue;
    if (std::exchange(is_first, false))
      out.family("weir_leases", "gauge", "Units held in leases, by policy.");
    out.sample(
        {{"policy", in.limiter.policies[i].name}},
        total(in.policies, [i](const auto& policies) { return policies[i]->leased->value(); }));
  }
}

void write_holds(Exposition& out, const Instruments& in) {
  using limiter::PolicyCounters;
  std::vector<std::size_t> holding, queueing;
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i) {
    if (has_holds(in, i)) holding.push_back(i);
    if (in.limiter.policies[i].queue > 0) queueing.push_back(i);
  }
  if (holding.empty()) return;
  out.family("weir_holds", "gauge", "Units held for requests in progress, by policy.");
  write_gauge(out, in, holding, &PolicyCounters::held);
  out.family("weir_holds_awaiting_report", "gauge",
             "Requests that other proxies serve and have not reported yet.");
  out.sample({}, total(in.traffic, [](const auto* worker) { return worker->kept_holds.value(); }));
  if (!queueing.empty())
    out.family("weir_queued", "gauge", "Requests that wait for a slot, by policy.");
  write_gauge(out, in, queueing, &PolicyCounters::queued);
  out.family("weir_settlements_total", "counter",
             "Holds that ended, by policy and what determined the cost.");
  // A slot is charged nothing, but the end of its lease, the last reason, is counted.
  constexpr auto lease = static_cast<std::size_t>(limiter::SettledBy::lease);
  for (const std::size_t i : holding) {
    const bool is_slot = limiter::is_concurrency(in.limiter.policies[i]);
    for (std::size_t by = is_slot ? lease : 0; by < limiter::settled_by_names.size(); ++by) {
      out.sample({{"policy", in.limiter.policies[i].name}, {"by", limiter::settled_by_names[by]}},
                 total(in.policies,
                       [i, by](const auto& policies) { return policies[i]->settled[by].value(); }));
    }
  }
}

}  // namespace

void write_policies(Exposition& out, const Instruments& in) {
  write_decisions(out, in);
  write_holds(out, in);
  write_leases(out, in);
}

}  // namespace weir::admin
