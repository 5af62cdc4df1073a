#include "admin/metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "admin/exposition.hpp"
#include "admin/reference_metrics.hpp"
#include "admin/sums.hpp"

namespace weir::admin {
namespace {

void write_routes(MetricSink& out, const Instruments& in) {
  const auto routes = sum_routes(in);
  const auto write = [&](std::string_view route, std::string_view label, std::size_t first,
                         const auto& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] != 0)
        out.sample({{"route", route}, {label, std::to_string(first + i)}}, counts[i]);
  };
  out.family("weir_requests_total", "counter", "Requests answered, by route and status code.");
  for (const auto& route : routes)
    write(route.name, "code", 100, route.by_status);
  out.family("weir_grpc_responses_total", "counter",
             "Responses to gRPC calls, by route and gRPC status.");
  for (const auto& route : routes)
    write(route.name, "grpc_status", 0, route.by_grpc_status);
  out.family("weir_denials_total", "counter", "Requests that a limit denied, by route.");
  for (const auto& route : routes)
    out.sample({{"route", route.name}}, route.denied);
  out.family("weir_request_duration_seconds", "histogram",
             "Time from the start of a request to the end of its answer.");
  for (const auto& route : routes)
    out.histogram({{"route", route.name}}, route.duration);
}

void write_decisions(MetricSink& out, const Instruments& in) {
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

void write_early_retries(MetricSink& out, const Instruments& in) {
  out.family("weir_early_retries_total", "counter",
             "Requests before the Retry-After that their key was given, by policy.");
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i) {
    out.sample({{"policy", in.limiter.policies[i].name}},
               total(in.policies,
                     [&](const auto& policies) { return policies[i]->early_retries.value(); }));
  }
}

void write_webhook(MetricSink& out, const WebhookCounters& webhook) {
  constexpr std::array<std::pair<std::string_view, Counter WebhookCounters::*>, 6> results{{
      {"delivered", &WebhookCounters::delivered},
      {"rejected", &WebhookCounters::rejected},
      {"expired", &WebhookCounters::expired},
      {"queue_full", &WebhookCounters::queue_full},
      {"removed", &WebhookCounters::removed},
      {"shutdown", &WebhookCounters::shutdown},
  }};
  out.family("weir_webhook_events_total", "counter",
             "Events for the webhook that were delivered, and those that were dropped, by reason.");
  for (const auto& [name, counter] : results)
    out.sample({{"result", name}}, (webhook.*counter).value());
  out.family("weir_webhook_failures_total", "counter",
             "Requests to the webhook that failed, after which the event is sent again.");
  out.sample({}, webhook.failures.value());
  out.family("weir_webhook_pending", "gauge", "Events that are not delivered yet.");
  out.sample({}, webhook.pending.value());
}

void write_quota_events(MetricSink& out, const Instruments& in) {
  constexpr std::array<std::string_view, limiter::event_result_count> results{"logged", "elsewhere",
                                                                              "dropped"};
  if (in.quota_events == nullptr || in.event_percents.empty()) return;
  out.family("weir_events_total", "counter",
             "Keys that reached a percentage of their quota, by policy, percentage and result.");
  for (std::size_t i = 0; i < in.policy_ids.size(); ++i) {
    for (const int percent : in.event_percents) {
      const auto counts = in.quota_events->counts(in.policy_ids[i], percent);
      for (std::size_t result = 0; result < results.size(); ++result) {
        out.sample({{"policy", in.limiter.policies[i].name},
                    {"at", std::to_string(percent)},
                    {"result", results[result]}},
                   counts[result]);
      }
    }
  }
  if (in.webhook != nullptr) write_webhook(out, *in.webhook);
}

void write_gauge(MetricSink& out, const Instruments& in, const std::vector<std::size_t>& policies,
                 Gauge limiter::PolicyCounters::*gauge) {
  for (const std::size_t i : policies) {
    out.sample({{"policy", in.limiter.policies[i].name}},
               total(in.policies,
                     [&](const auto& counters) { return (counters[i].get()->*gauge).value(); }));
  }
}

void write_leases(MetricSink& out, const Instruments& in) {
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

void write_holds(MetricSink& out, const Instruments& in) {
  using limiter::PolicyCounters;
  const std::vector<bool> holds = holding_policies(in);
  std::vector<std::size_t> holding, queueing;
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i) {
    if (holds[i]) holding.push_back(i);
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

void write_policies(MetricSink& out, const Instruments& in) {
  write_decisions(out, in);
  write_early_retries(out, in);
  write_quota_events(out, in);
  write_holds(out, in);
  write_leases(out, in);
}

void write_upstreams(MetricSink& out, const Instruments& in) {
  constexpr std::array<std::pair<std::string_view, Counter UpstreamCounters::*>, 5> outcomes{{
      {"answered", &UpstreamCounters::answered},
      {"connect_failed", &UpstreamCounters::connect_failed},
      {"timed_out", &UpstreamCounters::timed_out},
      {"broken", &UpstreamCounters::broken},
      {"unhealthy", &UpstreamCounters::unhealthy},
  }};
  out.family("weir_upstream_requests_total", "counter", "Requests sent to upstreams, by outcome.");
  for (std::size_t i = 0; i < in.upstreams.size(); ++i) {
    for (const auto& [outcome, counter] : outcomes) {
      out.sample({{"upstream", in.upstreams[i].name}, {"outcome", outcome}},
                 total(in.named, [&, counted = counter](const auto& worker) {
                   return (worker->upstreams[i].get()->*counted).value();
                 }));
    }
  }
}

void write_upstream_servers(MetricSink& out, const Instruments& in) {
  out.family("weir_upstream_server_up", "gauge",
             "1 while every worker uses the server, 0 while one has marked it down.");
  for (std::size_t i = 0; i < in.upstreams.size(); ++i) {
    const auto& upstream = in.upstreams[i];
    for (std::size_t s = 0; s < upstream.servers.size(); ++s) {
      const bool up = std::all_of(in.named.begin(), in.named.end(), [&](const auto& worker) {
        return worker->servers_in_use[i][s]->value() != 0;
      });
      out.sample({{"upstream", upstream.name}, {"server", upstream.servers[s].authority()}},
                 std::uint64_t{up});
    }
  }
}

void write_connections(MetricSink& out, const Instruments& in) {
  out.family("weir_connections", "gauge", "Open connections of clients.");
  out.sample({}, total(in.traffic, [](const auto* worker) { return worker->connections.value(); }));
  out.family("weir_connections_accepted_total", "counter", "Connections of clients accepted.");
  out.sample({}, total(in.traffic, [](const auto* worker) { return worker->accepted.value(); }));
  out.family("weir_connections_refused_total", "counter",
             "Connections of clients answered 503 or reset because there were too many, by the "
             "bound that they exceeded.");
  out.sample({{"reason", "max_connections"}},
             total(in.traffic, [](const auto* worker) { return worker->refused.value(); }));
  out.sample({{"reason", "address_connections"}}, total(in.traffic, [](const auto* worker) {
               return worker->refused_by_address.connections.value();
             }));
  out.sample({{"reason", "address_rate"}}, total(in.traffic, [](const auto* worker) {
               return worker->refused_by_address.rate.value();
             }));
}

void write_handshakes(MetricSink& out, const Instruments& in) {
  constexpr std::array<std::pair<std::string_view, Counter HandshakeCounters::*>, 4> outcomes{{
      {"completed", &HandshakeCounters::completed},
      {"failed", &HandshakeCounters::failed},
      {"timed_out", &HandshakeCounters::timed_out},
      {"displaced", &HandshakeCounters::displaced},
  }};
  out.family("weir_tls_handshakes_total", "counter", "TLS handshakes with clients, by outcome.");
  for (const auto& [outcome, counter] : outcomes) {
    out.sample({{"outcome", outcome}}, total(in.traffic, [counted = counter](const auto* worker) {
                 return (worker->handshakes.*counted).value();
               }));
  }
  out.family("weir_tls_handshakes_in_progress", "gauge",
             "TLS handshakes with clients that have begun and not ended.");
  out.sample({}, total(in.traffic,
                       [](const auto* worker) { return worker->handshakes.in_progress.value(); }));
  out.family("weir_tls_handshakes_waiting", "gauge",
             "TLS handshakes with clients that wait for their turn.");
  out.sample(
      {}, total(in.traffic, [](const auto* worker) { return worker->handshakes.waiting.value(); }));
}

void write_http2(MetricSink& out, const Instruments& in) {
  out.family("weir_http2_connections", "gauge", "Open connections of clients that speak HTTP/2.");
  out.sample(
      {}, total(in.traffic, [](const auto* worker) { return worker->http2.connections.value(); }));
  out.family("weir_http2_glitches_total", "counter",
             "Faults of clients of HTTP/2 that count against their connection.");
  out.sample({},
             total(in.traffic, [](const auto* worker) { return worker->http2.glitches.value(); }));
  out.family("weir_http2_given_up_total", "counter",
             "Connections of HTTP/2 that ended with three quarters of their glitches or more.");
  out.sample({},
             total(in.traffic, [](const auto* worker) { return worker->http2.given_up.value(); }));
}

void write_tokens(MetricSink& out, const Instruments& in) {
  const auto& providers = in.limiter.token_providers;
  if (providers.empty()) return;
  out.family("weir_jwt_verifications_total", "counter",
             "Tokens of requests, by provider and result; most results are remembered.");
  const auto write = [&](std::size_t i, std::string_view result, Counter TokenCounters::*counter) {
    out.sample({{"provider", providers[i].name}, {"result", result}},
               total(in.named, [&](const auto& worker) {
                 return ((*worker->token_providers[i]).*counter).value();
               }));
  };
  for (std::size_t i = 0; i < providers.size(); ++i) {
    write(i, "valid", &TokenCounters::valid);
    write(i, "invalid", &TokenCounters::invalid);
    write(i, "unverifiable", &TokenCounters::unverifiable);
  }
}

void write_configuration(MetricSink& out, const Instruments& in) {
  out.family("weir_config_info", "gauge",
             "Always 1; the SHA-256 of the running configuration is in its label.");
  out.sample({{"hash", in.config_hash}}, std::uint64_t{1});
  out.family("weir_config_loaded_timestamp_seconds", "gauge",
             "When the running configuration was loaded, in Unix time.");
  out.sample({}, in.config_loaded_at_s);
  if (in.reloads == nullptr) return;
  out.family("weir_config_reloads_total", "counter",
             "Reloads of the configuration, by result; the start does not count.");
  out.sample({{"result", "ok"}}, in.reloads->ok.value());
  out.sample({{"result", "failed"}}, in.reloads->failed.value());
}

void write_shadow_reloads(MetricSink& out, const Instruments& in) {
  if (in.shadow_reload == nullptr) return;
  const ShadowReload& shadow = *in.shadow_reload;
  out.family("weir_shadow_reload_active", "gauge", "1 while a configuration decides in shadow.");
  out.sample({}, std::uint64_t{shadow.state().stage == ShadowState::Stage::shadow});
  out.family("weir_shadow_reload_decisions_total", "counter",
             "Decisions under the running configuration and one in shadow that were compared.");
  out.sample({}, shadow.decisions.value());
  out.family("weir_shadow_reload_flips_total", "counter",
             "Compared decisions that differ in shadow.");
  out.sample({}, shadow.flips.value());
  out.family("weir_shadow_reload_skipped_total", "counter",
             "Requests and calls during a shadow that were not compared.");
  out.sample({}, shadow.skipped.value());
  out.family("weir_shadow_reloads_total", "counter",
             "Configurations that were in shadow, by result.");
  out.sample({{"result", "done"}}, shadow.done.value());
  out.sample({{"result", "dropped"}}, shadow.dropped.value());
  out.sample({{"result", "replaced"}}, shadow.replaced.value());
}

void write_address_lists(MetricSink& out, const Instruments& in) {
  const auto& lists = in.limiter.address_lists;
  if (lists.empty()) return;
  out.family("weir_address_list_prefixes", "gauge", "Prefixes in use, by address list.");
  for (const AddressList& list : lists)
    out.sample({{"list", list.name()}}, std::uint64_t{list.size()});
}

void write_plans(MetricSink& out, const Instruments& in) {
  const limiter::Plans& plans = in.limiter.plans;
  if (plans.names.empty()) return;
  out.family("weir_plan_file_identities", "gauge", "Identities in use, by file of plans.");
  for (const limiter::PlanSource& source : plans.sources) {
    if (const auto* const file = std::get_if<limiter::PlanFromFile>(&source.from))
      out.sample({{"file", file->shown}}, std::uint64_t{file->table.hold()->size()});
  }
  out.family("weir_unknown_plans_total", "counter",
             "Requests whose source of the plan names one that is not configured.");
  out.sample({}, in.unknown_plans == nullptr ? std::uint64_t{0} : in.unknown_plans->count());
}

void write_file_reloads(MetricSink& out, const Instruments& in) {
  if (in.file_reloads == nullptr) return;
  const bool has_lists = !in.limiter.address_lists.empty();
  const bool has_plans = !in.limiter.plans.names.empty();
  const bool has_keys = !in.limiter.token_providers.empty();
  const bool has_limits = in.rate_limit_service != nullptr;
  if (!has_lists && !has_plans && !has_keys && !has_limits) return;
  out.family("weir_file_reloads_total", "counter",
             "Files read again because they have changed, by kind and result.");
  const auto add = [&out](const char* kind, const FileReloadCounters& counters) {
    out.sample({{"kind", kind}, {"result", "ok"}}, counters.ok.value());
    out.sample({{"kind", kind}, {"result", "failed"}}, counters.failed.value());
  };
  if (has_lists) add("address_list", in.file_reloads->address_lists);
  if (has_plans) add("plan_file", in.file_reloads->plan_files);
  if (has_keys) add("jwks_file", in.file_reloads->key_files);
  if (has_limits) add("limit_file", in.file_reloads->limit_files);
}

void write_keys(MetricSink& out, const Instruments& in) {
  if (in.keys.empty()) return;
  out.family("weir_jwks_age_seconds", "gauge",
             "Age of the keys fetched last, by JWT provider; absent before the first success.");
  for (const KeySource& source : in.keys) {
    if (const auto age = source.health->age())
      out.sample({{"provider", source.provider}}, Duration{*age});
  }
  out.family("weir_jwks_fetches_total", "counter",
             "Fetches of keys, by JWT provider and result; providers with one URL share them.");
  for (const KeySource& source : in.keys) {
    out.sample({{"provider", source.provider}, {"result", "ok"}}, source.health->ok.value());
    out.sample({{"provider", source.provider}, {"result", "failed"}},
               source.health->failed.value());
  }
}

void write_telemetry(MetricSink& out, const Instruments& in) {
  using telemetry::Signal;
  if (in.exports == nullptr) return;
  const auto each = [&](auto&& write) {
    write(telemetry::to_string(Signal::spans), in.exports->spans);
    write(telemetry::to_string(Signal::metrics), in.exports->metrics);
  };
  out.family("weir_telemetry_exports_total", "counter",
             "Requests to the collector, by signal and result.");
  each([&](std::string_view signal, const telemetry::SignalCounters& counters) {
    out.sample({{"signal", signal}, {"result", "ok"}}, counters.ok.value());
    out.sample({{"signal", signal}, {"result", "failed"}}, counters.failed.value());
  });
  const std::uint64_t not_queued =
      total(in.spans, [](const telemetry::SpanQueue* queue) { return queue->dropped(); });
  out.family("weir_telemetry_dropped_total", "counter",
             "Spans and data points that the collector did not get, by signal.");
  each([&](std::string_view signal, const telemetry::SignalCounters& counters) {
    const bool is_of_spans = &counters == &in.exports->spans;
    out.sample({{"signal", signal}}, counters.dropped.value() + (is_of_spans ? not_queued : 0));
  });
}

void write_process(MetricSink& out, const Instruments& in, const ProcessStats& process) {
  out.family("weir_access_log_dropped_total", "counter",
             "Access log lines lost because they could not be written.");
  out.sample({}, in.access_log == nullptr ? std::uint64_t{0} : in.access_log->dropped());
  out.family("weir_build_info", "gauge", "Always 1; the version is in its label.");
  out.sample({{"version", WEIR_VERSION}}, std::uint64_t{1});
  out.family("process_cpu_seconds_total", "counter", "CPU time spent, user and system.");
  out.sample({}, process.cpu);
  out.family("process_resident_memory_bytes", "gauge", "Resident memory.");
  out.sample({}, process.resident_bytes);
  out.family("process_virtual_memory_bytes", "gauge", "Virtual memory.");
  out.sample({}, process.virtual_bytes);
  out.family("process_open_fds", "gauge", "Open file descriptors.");
  out.sample({}, process.open_descriptors);
  out.family("process_max_fds", "gauge", "Most file descriptors that may be open.");
  out.sample({}, process.max_descriptors);
  out.family("process_start_time_seconds", "gauge", "When the process started, in Unix time.");
  out.sample({}, process.started_at_s);
}

}  // namespace

void write_metrics(MetricSink& out, const Instruments& instruments, const ProcessStats& process) {
  write_routes(out, instruments);
  write_policies(out, instruments);
  write_upstreams(out, instruments);
  write_upstream_servers(out, instruments);
  write_connections(out, instruments);
  write_handshakes(out, instruments);
  write_http2(out, instruments);
  write_store(out, instruments);
  write_tokens(out, instruments);
  write_configuration(out, instruments);
  write_shadow_reloads(out, instruments);
  write_address_lists(out, instruments);
  write_keys(out, instruments);
  write_plans(out, instruments);
  write_file_reloads(out, instruments);
  write_reference_metrics(out, instruments);
  write_telemetry(out, instruments);
  write_process(out, instruments, process);
}

std::string render_metrics(const Instruments& instruments, const ProcessStats& process) {
  Exposition out;
  write_metrics(out, instruments, process);
  return out.text();
}

}  // namespace weir::admin
