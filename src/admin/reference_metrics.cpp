#include "admin/reference_metrics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::admin {
namespace {

/// A limit of a file, under the names that the labels have.
struct NamedLimit {
  std::string domain;
  std::string keys[3];
  std::size_t policy = 0;
};

void add_limits(const std::vector<options::DescriptorNode>& nodes, const NamedLimit& parent,
                std::size_t depth, std::vector<NamedLimit>& to) {
  for (const options::DescriptorNode& node : nodes) {
    NamedLimit named = parent;
    std::string& key = named.keys[depth < 3 ? depth : 2];
    if (!key.empty()) key += '.';
    key += node.text;
    if (node.limit && node.limit->policy) {
      named.policy = *node.limit->policy;
      to.push_back(named);
    }
    add_limits(node.children, named, depth + 1, to);
  }
}

}  // namespace

void write_reference_metrics(telemetry::MetricSink& out, const Instruments& in) {
  if (in.rate_limit_service == nullptr || !in.rate_limit_service->reference_metrics) return;
  std::vector<NamedLimit> limits;
  for (const options::DescriptorDomain& domain : in.rate_limit_service->domains)
    add_limits(domain.descriptors, {.domain = domain.name, .keys = {}}, 0, limits);
  const auto write = [&](Counter limiter::HitCounters::*counter) {
    for (const NamedLimit& limit : limits) {
      out.sample({{"domain", limit.domain},
                  {"key1", limit.keys[0]},
                  {"key2", limit.keys[1]},
                  {"key3", limit.keys[2]}},
                 total(in.policies, [&](const auto& policies) {
                   return (policies[limit.policy]->hits.*counter).value();
                 }));
    }
  };
  out.family("ratelimit_service_rate_limit_total_hits", "counter",
             "Hits that were asked for, by descriptor.");
  write(&limiter::HitCounters::total);
  out.family("ratelimit_service_rate_limit_within_limit", "counter",
             "Hits that were admitted, by descriptor.");
  write(&limiter::HitCounters::within);
  out.family("ratelimit_service_rate_limit_near_limit", "counter",
             "Hits that were admitted above the near limit ratio, by descriptor.");
  write(&limiter::HitCounters::near);
  out.family("ratelimit_service_rate_limit_over_limit", "counter",
             "Hits that were not admitted, by descriptor.");
  write(&limiter::HitCounters::over);
  out.family("ratelimit_service_rate_limit_shadow_mode", "counter",
             "Hits that a limit in shadow mode would not have admitted, by descriptor.");
  write(&limiter::HitCounters::shadow);
  if (in.reloads == nullptr) return;
  out.family("ratelimit_service_config_load_success", "counter",
             "Configurations that were loaded.");
  out.sample({}, in.reloads->ok.value() + 1);  // the reference counts the first one, too
  out.family("ratelimit_service_config_load_error", "counter", "Configurations that were refused.");
  out.sample({}, in.reloads->failed.value());
}

}  // namespace weir::admin
