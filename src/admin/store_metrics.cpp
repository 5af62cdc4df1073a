#include <algorithm>
#include <string>
#include <string_view>

#include "admin/exposition.hpp"
#include "admin/metrics.hpp"
#include "admin/sums.hpp"

namespace weir::admin {
namespace {

void write_every_store(MetricSink& out, const Instruments& in) {
  const bool up = in.store_health == nullptr || in.store_health->is_up();
  out.family("weir_store_up", "gauge", "1 while the store decides for every worker.");
  out.sample({}, std::uint64_t{up});
  if (in.store_health != nullptr) {
    const InstancesStatus instances = in.store_health->instances();
    out.family("weir_store_instances", "gauge",
               "Instances that use the same Redis, with this one.");
    out.sample({}, instances.running);
    out.family("weir_store_instances_differing", "gauge",
               "Instances with settings that count clients in another way than this one.");
    out.sample({}, instances.differing);
    out.family("weir_store_replicas", "gauge",
               "Instances that share a quota while each decides locally.");
    out.sample({}, static_cast<std::uint64_t>(in.replicas.value_or(instances.replicas)));
  }
  out.family("weir_memory_store_keys", "gauge", "Keys in the memory store.");
  out.sample({}, std::uint64_t{in.store.keys()});
  out.family("weir_memory_store_evictions_total", "counter",
             "Keys in use dropped from the memory store at its bound.");
  out.sample({}, in.store.evictions());
  out.family("weir_store_settlements_lost_total", "counter",
             "Settlements that could not be applied to the store.");
  out.sample({}, in.store.settlements_lost() + total(in.shared_store, [](const auto& worker) {
                   return worker.store->settlements_lost.value();
                 }));
  if (in.shared_store.empty()) return;
  out.family("weir_store_holds_outlived_total", "counter",
             "Units whose lease in Redis ended while their request was in progress.");
  out.sample({}, total(in.shared_store,
                       [](const auto& worker) { return worker.store->holds_outlived.value(); }));
  out.family("weir_store_holds_expired_total", "counter",
             "Units of any instance whose lease this one found ended.");
  out.sample({}, total(in.shared_store,
                       [](const auto& worker) { return worker.store->holds_expired.value(); }));
}

/// A counter of all nodes of all workers.
template <class Value>
std::uint64_t total_of_nodes(const Instruments& in, Value&& value) {
  return total(in.shared_store, [&](const auto& worker) {
    return worker.nodes->total([&](const auto& node) { return value(node.breaker); });
  });
}

void write_breakers(MetricSink& out, const Instruments& in) {
  auto worst = store::NodeControl::State::closed;
  for (const auto& [server, node] : sum_nodes(in))
    worst = std::max(worst, node.state);
  out.family("weir_store_breaker_state", "gauge",
             "0 closed, 1 half-open, 2 open: the worst of the workers and nodes.");
  out.sample({}, static_cast<std::uint64_t>(worst));
  out.family("weir_store_in_flight", "gauge", "Questions to Redis without a reply.");
  out.sample({}, total_of_nodes(in, [](const auto& breaker) {
               return breaker.in_flight.load(std::memory_order_relaxed);
             }));
  out.family("weir_store_in_flight_limit", "gauge",
             "The most questions without a reply: as many as Redis answers in time.");
  out.sample({}, total_of_nodes(in, [](const auto& breaker) {
               return breaker.in_flight_limit.load(std::memory_order_relaxed);
             }));
}

void write_nodes(MetricSink& out, const Instruments& in) {
  if (in.shared_store.empty()) return;
  const NodeSums nodes = sum_nodes(in);
  out.family("weir_store_node_up", "gauge", "1 while every worker is connected to the node.");
  for (const auto& [server, node] : nodes)
    out.sample({{"node", server}}, std::uint64_t{node.is_up});
  out.family("weir_store_node_breaker_state", "gauge",
             "0 closed, 1 half-open, 2 open: the worst of the workers.");
  for (const auto& [server, node] : nodes)
    out.sample({{"node", server}}, static_cast<std::uint64_t>(node.state));
  out.family("weir_store_node_in_flight", "gauge", "Questions to the node without a reply.");
  for (const auto& [server, node] : nodes)
    out.sample({{"node", server}}, node.in_flight);
  out.family("weir_store_node_in_flight_limit", "gauge",
             "The most questions to the node without a reply: as many as it answers in time.");
  for (const auto& [server, node] : nodes)
    out.sample({{"node", server}}, node.in_flight_limit);
  out.family("weir_store_node_errors_total", "counter",
             "Questions to the node that it did not decide.");
  for (const auto& [server, node] : nodes)
    out.sample({{"node", server}}, node.errors);
  out.family("weir_store_node_duration_seconds", "histogram",
             "Time from a question to the decision of the node.");
  for (const auto& [server, node] : nodes)
    out.histogram({{"node", server}}, node.latency);
}

void write_store_errors(MetricSink& out, const Instruments& in) {
  out.family("weir_store_errors_total", "counter", "Decisions that Redis did not make, by kind.");
  for (std::size_t i = 1; i < store::error_count; ++i) {
    const auto error = static_cast<store::Error>(i);
    out.sample({{"kind", to_string(error)}}, total(in.shared_store, [&](const auto& worker) {
                 const auto count = worker.store->errors[i].value();
                 const auto at_nodes = [&](Counter store::BreakerCounters::*counter) {
                   return worker.nodes->total(
                       [&](const auto& node) { return (node.breaker.*counter).value(); });
                 };
                 if (error == store::Error::not_connected)
                   return count + at_nodes(&store::BreakerCounters::not_connected);
                 if (error == store::Error::overloaded)
                   return at_nodes(&store::BreakerCounters::limited);
                 return count;
               }));
  }
}

/// Metrics that exist only if instances share a store.
void write_shared_store(MetricSink& out, const Instruments& in) {
  if (in.shared_store.empty()) return;
  write_store_errors(out, in);
  const auto counter = [&](std::string_view name, std::string_view help, auto&& value) {
    out.family(name, "counter", help);
    out.sample({}, total(in.shared_store, value));
  };
  counter("weir_store_questions_total", "Decisions requested from Redis.",
          [](const auto& worker) { return worker.store->questions.value(); });
  counter("weir_store_calls_total", "Commands that sent these questions to Redis.",
          [](const auto& worker) { return worker.store->calls.value(); });
  counter("weir_joined_calls_total", "Those of the commands that sent several questions.",
          [](const auto& worker) { return worker.store->joined_calls.value(); });
  counter("weir_store_connects_total", "Connections to Redis that became ready.",
          [](const auto& worker) { return worker.store->connects.value(); });
  counter("weir_store_late_answers_total", "Answers of Redis that came after their deadline.",
          [](const auto& worker) { return worker.store->late_answers.value(); });
  counter("weir_denial_memory_hits_total", "Requests denied without asking Redis again.",
          [](const auto& worker) { return worker.chain->remembered.value(); });
  counter("weir_leased_decisions_total", "Requests decided from leases, without asking Redis.",
          [](const auto& worker) { return worker.chain->leased.value(); });
  counter("weir_store_fallbacks_total", "Requests decided by on_failure.",
          [](const auto& worker) { return worker.chain->alone.value(); });
}

void write_decision_durations(MetricSink& out, const Instruments& in) {
  using limiter::Decider;
  out.family("weir_decision_duration_seconds", "histogram", "Time taken to decide, by store.");
  const bool alone = in.shared_store.empty();
  for (const Decider decider : {Decider::memory, Decider::redis, Decider::local}) {
    if ((decider == Decider::memory) != alone) continue;
    HistogramSum duration;
    for (const auto* worker : in.traffic)
      duration.add(worker->decision_duration[static_cast<std::size_t>(decider)]);
    out.histogram({{"store", to_string(decider)}}, duration);
  }
}

}  // namespace

void write_store(MetricSink& out, const Instruments& in) {
  write_decision_durations(out, in);
  write_every_store(out, in);
  write_breakers(out, in);
  write_shared_store(out, in);
  write_nodes(out, in);
}

}  // namespace weir::admin
