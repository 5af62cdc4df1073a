#include "admin/reference_metrics.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rls/reference_labels.hpp"

namespace weir::admin {
namespace {

/// The counters of all workers, by their labels.
using HitsByLabels = std::map<rls::ReferenceLabels, std::vector<const HitCounters*>>;

void add_limits(const std::vector<options::DescriptorNode>& nodes, const std::string& parent,
                const Instruments& in, HitsByLabels& to) {
  for (const options::DescriptorNode& node : nodes) {
    const std::string name = parent + '.' + node.text;
    if (node.limit && node.limit->policy) {
      auto& counters = to[rls::reference_labels(name)];
      for (const auto& worker : in.policies)
        counters.push_back(&worker[*node.limit->policy]->hits);
    }
    add_limits(node.children, name, in, to);
  }
}

void write_hits(telemetry::MetricSink& out, const Instruments& in) {
  HitsByLabels all;
  for (const options::DescriptorDomain& domain : in.rate_limit_service->domains)
    add_limits(domain.descriptors, domain.name, in, all);
  for (const TrafficCounters* const worker : in.traffic) {
    worker->named_hits.each([&](std::string_view name, const HitCounters& hits) {
      all[rls::reference_labels(std::string(name))].push_back(&hits);
    });
  }
  const auto write = [&](Counter HitCounters::*counter) {
    for (const auto& [labels, counters] : all) {
      const std::uint64_t hits =
          total(counters, [&](const HitCounters* one) { return (one->*counter).value(); });
      out.sample({{"domain", labels.domain}, {"key1", labels.key1}, {"key2", labels.key2}}, hits);
    }
  };
  out.family("ratelimit_service_rate_limit_total_hits", "counter",
             "Hits that were asked for, by descriptor.");
  write(&HitCounters::total);
  out.family("ratelimit_service_rate_limit_within_limit", "counter",
             "Hits that were admitted, by descriptor.");
  write(&HitCounters::within);
  out.family("ratelimit_service_rate_limit_near_limit", "counter",
             "Hits that were admitted above the near limit ratio, by descriptor.");
  write(&HitCounters::near);
  out.family("ratelimit_service_rate_limit_over_limit", "counter",
             "Hits that were not admitted, by descriptor.");
  write(&HitCounters::over);
  out.family("ratelimit_service_rate_limit_shadow_mode", "counter",
             "Hits that a limit in shadow mode would not have admitted, by descriptor.");
  write(&HitCounters::shadow);
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

void write_reference_metrics(telemetry::MetricSink& out, const Instruments& in) {
  if (in.rate_limit_service == nullptr || !in.rate_limit_service->reference_metrics) return;
  write_hits(out, in);
  write_calls(out, in);
  if (in.reloads != nullptr) write_reloads(out, *in.reloads);
}

}  // namespace weir::admin
