#include "admin/reference_metrics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::admin {
namespace {

/// The policies of limits, by their labels.
using NamedLimits = std::map<ReferenceLabels, std::vector<std::size_t>>;

void add_limits(const std::vector<options::DescriptorNode>& nodes, const std::string& parent,
                NamedLimits& to) {
  for (const options::DescriptorNode& node : nodes) {
    const std::string name = parent + '.' + node.text;
    if (node.limit && node.limit->policy) to[reference_labels(name)].push_back(*node.limit->policy);
    add_limits(node.children, name, to);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the end of the IPv4 address at `begin`, four groups of up to three digits; 0: there is
/// none.
std::size_t end_of_address(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  for (int group = 0; group < 4; ++group) {
    if (group > 0 && (at == text.size() || text[at++] != '.')) return 0;
    const std::size_t digits = at;
    while (at < text.size() && at - digits < 3 && is_digit(text[at]))
      ++at;
    if (at == digits) return 0;
  }
  return at;
}

void replace_separators(std::string& name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '|'; }, '_');
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::size_t end = end_of_address(name, at);
    if (end == 0) continue;
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(at),
                 name.begin() + static_cast<std::ptrdiff_t>(end), '.', '_');
    at = end - 1;
  }
}

void write_hits(telemetry::MetricSink& out, const Instruments& in) {
  NamedLimits limits;
  for (const options::DescriptorDomain& domain : in.rate_limit_service->domains)
    add_limits(domain.descriptors, domain.name, limits);
  const auto write = [&](Counter limiter::HitCounters::*counter) {
    for (const auto& [labels, policies] : limits) {
      const std::uint64_t hits = total(in.policies, [&](const auto& counters) {
        return total(policies,
                     [&](std::size_t policy) { return (counters[policy]->hits.*counter).value(); });
      });
      out.sample({{"domain", labels.domain}, {"key1", labels.key1}, {"key2", labels.key2}}, hits);
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
}

void write_calls(telemetry::MetricSink& out, const Instruments& in) {
  constexpr std::array<std::pair<std::string_view, MethodCounters RateLimitCallCounters::*>, 2>
      methods{{{"ShouldRateLimit", &RateLimitCallCounters::should_rate_limit},
               {"Check", &RateLimitCallCounters::check_health}}};
  out.family("ratelimit_service_total_requests", "counter", "gRPC calls, by method.");
  for (const auto& [name, method] : methods) {
    out.sample({{"grpc_method", name}}, total(in.traffic, [&, one = method](const auto* traffic) {
                 return (traffic->rate_limit_calls.*one).requests.value();
               }));
  }
  out.family("ratelimit_service_response_time_seconds", "histogram",
             "Time from the message of a gRPC call to its answer, by method.");
  for (const auto& [name, method] : methods) {
    HistogramSum sum;
    for (const TrafficCounters* traffic : in.traffic)
      sum.add((traffic->rate_limit_calls.*method).duration);
    out.histogram({{"grpc_method", name}}, sum);
  }
  constexpr std::array<std::pair<std::string_view, Counter RateLimitCallCounters::*>, 2> errors{
      {{"redis_error", &RateLimitCallCounters::undecided},
       {"service_error", &RateLimitCallCounters::invalid}}};
  out.family("ratelimit_service_should_rate_limit_error", "counter",
             "Calls of ShouldRateLimit that failed, by reason.");
  for (const auto& [name, error] : errors) {
    out.sample({{"err_type", name}}, total(in.traffic, [&, one = error](const auto* traffic) {
                 return (traffic->rate_limit_calls.*one).value();
               }));
  }
}

void write_reloads(telemetry::MetricSink& out, const ReloadCounters& reloads) {
  out.family("ratelimit_service_config_load_success", "counter",
             "Configurations that were loaded.");
  out.sample({}, reloads.ok.value() + 1);  // the reference counts the first one, too
  out.family("ratelimit_service_config_load_error", "counter", "Configurations that were refused.");
  out.sample({}, reloads.failed.value());
}

}  // namespace

ReferenceLabels reference_labels(std::string name) {
  replace_separators(name);
  ReferenceLabels labels;
  std::string_view rest = name;
  for (std::string* const label : {&labels.domain, &labels.key1, &labels.key2}) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    *label = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return labels;
}

void write_reference_metrics(telemetry::MetricSink& out, const Instruments& in) {
  if (in.rate_limit_service == nullptr || !in.rate_limit_service->reference_metrics) return;
  write_hits(out, in);
  write_calls(out, in);
  if (in.reloads != nullptr) write_reloads(out, *in.reloads);
}

}  // namespace weir::admin
