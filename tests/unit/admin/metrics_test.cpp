#include "admin/metrics.hpp"

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "admin/exposition.hpp"
#include "catch.hpp"
#include "telemetry/metrics_document.hpp"
#include "test_process.hpp"

namespace {

using namespace weir;
using admin::named_route;
using admin::TestProcess;

std::string rendered(const TestProcess& process, const admin::ProcessStats& stats = {}) {
  return admin::render_metrics(process.instruments(), stats);
}

/// Value by series, with its labels.
using Series = std::map<std::string, std::string>;

/// Fails if a series comes twice.
Series series_of(const std::string& text) {
  Series series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const auto blank = line.rfind(' ');
    REQUIRE(blank != std::string::npos);
    const bool is_new = series.emplace(line.substr(0, blank), line.substr(blank + 1)).second;
    INFO(line);
    REQUIRE(is_new);
  }
  return series;
}

/// Checks that `series` contains all of `expected`.
void check_series(const Series& series, const Series& expected) {
  for (const auto& [name, value] : expected) {
    CAPTURE(name);
    REQUIRE(series.count(name) == 1);
    CHECK(series.at(name) == value);
  }
}
void check_series(const std::string& text, const Series& expected) {
  check_series(series_of(text), expected);
}

}  // namespace

TEST_CASE("requests and decisions of all workers are added up") {
  TestProcess process({named_route("search")});
  process.named[0]->routes[0]->count(200, Duration{100});
  process.named[1]->routes[0]->count(200, Duration{101});
  process.named[1]->routes[0]->count(429, Duration{31'000'000});
  process.named[0]->routes[1]->count(404, Duration{1});
  process.named[0]->routes[0]->by_grpc_status[8].add();
  process.named[1]->routes[0]->by_grpc_status[8].add(2);
  process.named[0]->routes[0]->denied.add(2);
  process.named[1]->routes[0]->denied.add(3);
  process.policies[0][0]->allowed.add(3);
  process.policies[1][0]->allowed.add(4);
  process.policies[1][0]->denied.add();
  process.policies[1][0]->shadow_denied.add(5);
  process.policies[0][0]->delayed.add(6);
  process.policies[0][0]->error.add(8);
  process.policies[0][0]->early_retries.add(9);
  process.policies[1][0]->early_retries.add(1);
  process.traffic[0]->decision_duration[0].observe(Duration{3});
  check_series(rendered(process),
               {
                   {R"(weir_requests_total{route="search",code="200"})", "2"},
                   {R"(weir_requests_total{route="search",code="429"})", "1"},
                   {R"(weir_requests_total{route="none",code="404"})", "1"},
                   {R"(weir_grpc_responses_total{route="search",grpc_status="8"})", "3"},
                   {R"(weir_denials_total{route="search"})", "5"},
                   {R"(weir_denials_total{route="none"})", "0"},
                   {R"(weir_request_duration_seconds_bucket{route="search",le="0.0001"})", "1"},
                   {R"(weir_request_duration_seconds_bucket{route="search",le="0.00025"})", "2"},
                   {R"(weir_request_duration_seconds_bucket{route="search",le="30"})", "2"},
                   {R"(weir_request_duration_seconds_bucket{route="search",le="+Inf"})", "3"},
                   {R"(weir_request_duration_seconds_sum{route="search"})", "31.000201"},
                   {R"(weir_request_duration_seconds_count{route="search"})", "3"},
                   {R"(weir_request_duration_seconds_count{route="none"})", "1"},
                   {R"(weir_decisions_total{policy="per_client",outcome="allowed"})", "7"},
                   {R"(weir_decisions_total{policy="per_client",outcome="denied"})", "1"},
                   {R"(weir_decisions_total{policy="per_client",outcome="shadow_denied"})", "5"},
                   {R"(weir_decisions_total{policy="per_client",outcome="delayed"})", "6"},
                   {R"(weir_decisions_total{policy="per_client",outcome="error"})", "8"},
                   {R"(weir_early_retries_total{policy="per_client"})", "10"},
                   {R"(weir_decision_duration_seconds_count{store="memory"})", "1"},
                   {R"(weir_decision_duration_seconds_sum{store="memory"})", "0.000003"},
               });
}

TEST_CASE("requests of all workers to upstreams are added up") {
  TestProcess process;
  process.named[0]->upstreams[0]->answered.add(7);
  process.named[1]->upstreams[0]->timed_out.add(2);
  process.named[1]->upstreams[0]->unhealthy.add(8);
  process.config.upstreams[0].servers = {{.url = {}, .host = "::1", .port = 3000},
                                         {.url = {}, .host = "a.example"}};
  for (auto& worker : process.named)
    worker->servers_in_use[0] = {std::make_shared<Gauge>(), std::make_shared<Gauge>()};
  process.named[0]->servers_in_use[0][0]->set(1);
  process.named[0]->servers_in_use[0][1]->set(1);
  process.named[1]->servers_in_use[0][1]->set(1);
  check_series(
      rendered(process),
      {
          {R"(weir_upstream_requests_total{upstream="api",outcome="answered"})", "7"},
          {R"(weir_upstream_requests_total{upstream="api",outcome="connect_failed"})", "0"},
          {R"(weir_upstream_requests_total{upstream="api",outcome="timed_out"})", "2"},
          {R"(weir_upstream_requests_total{upstream="api",outcome="broken"})", "0"},
          {R"(weir_upstream_requests_total{upstream="api",outcome="unhealthy"})", "8"},
          {R"(weir_upstream_server_up{upstream="api",server="[::1]:3000"})", "0"},
          {R"(weir_upstream_server_up{upstream="api",server="a.example"})", "1"},
      });
}

TEST_CASE("connections and handshakes of all workers are added up") {
  TestProcess process;
  process.traffic[0]->connections.add(5);
  process.traffic[1]->connections.add(-1);
  process.traffic[1]->accepted.add(9);
  process.traffic[1]->refused.add(2);
  process.traffic[0]->refused_by_address.connections.add(3);
  process.traffic[1]->refused_by_address.rate.add(4);
  process.traffic[0]->handshakes.completed.add(6);
  process.traffic[1]->handshakes.completed.add(1);
  process.traffic[0]->handshakes.failed.add(2);
  process.traffic[1]->handshakes.timed_out.add(3);
  process.traffic[1]->handshakes.displaced.add(4);
  process.traffic[0]->handshakes.in_progress.set(5);
  process.traffic[1]->handshakes.in_progress.set(8);
  process.traffic[1]->handshakes.waiting.set(9);
  process.traffic[0]->http2.connections.set(3);
  process.traffic[1]->http2.glitches.add(7);
  process.traffic[0]->http2.given_up.add(1);
  check_series(rendered(process),
               {
                   {"weir_connections", "4"},
                   {"weir_connections_accepted_total", "9"},
                   {R"(weir_connections_refused_total{reason="max_connections"})", "2"},
                   {R"(weir_connections_refused_total{reason="address_connections"})", "3"},
                   {R"(weir_connections_refused_total{reason="address_rate"})", "4"},
                   {R"(weir_tls_handshakes_total{outcome="completed"})", "7"},
                   {R"(weir_tls_handshakes_total{outcome="failed"})", "2"},
                   {R"(weir_tls_handshakes_total{outcome="timed_out"})", "3"},
                   {R"(weir_tls_handshakes_total{outcome="displaced"})", "4"},
                   {"weir_tls_handshakes_in_progress", "13"},
                   {"weir_tls_handshakes_waiting", "9"},
                   {"weir_http2_connections", "3"},
                   {"weir_http2_glitches_total", "7"},
                   {"weir_http2_given_up_total", "1"},
               });
}

TEST_CASE("metrics of the process, its configuration and its memory store") {
  TestProcess process;
  process.reloads.ok.add(2);
  process.reloads.failed.add(3);
  const std::string text = rendered(process, {.cpu = Duration{1'500'000},
                                              .resident_bytes = 4096,
                                              .virtual_bytes = 8192,
                                              .open_descriptors = 7,
                                              .max_descriptors = 1024,
                                              .started_at_s = 1'700'000'000});
  check_series(text, {
                         {"weir_store_up", "1"},
                         {"weir_store_breaker_state", "0"},
                         {"weir_store_in_flight", "0"},
                         {"weir_store_in_flight_limit", "0"},
                         {"weir_memory_store_keys", "0"},
                         {"weir_memory_store_evictions_total", "0"},
                         {"weir_access_log_dropped_total", "0"},
                         {R"(weir_config_info{hash="c0ffee"})", "1"},
                         {"weir_config_loaded_timestamp_seconds", "1700000000"},
                         {R"(weir_config_reloads_total{result="ok"})", "2"},
                         {R"(weir_config_reloads_total{result="failed"})", "3"},
                         {R"(weir_build_info{version=")" WEIR_VERSION R"("})", "1"},
                         {"process_cpu_seconds_total", "1.5"},
                         {"process_resident_memory_bytes", "4096"},
                         {"process_virtual_memory_bytes", "8192"},
                         {"process_open_fds", "7"},
                         {"process_max_fds", "1024"},
                         {"process_start_time_seconds", "1700000000"},
                     });
}

TEST_CASE("metrics of the store that instances share") {
  TestProcess process;
  process.share_store();
  process.traffic[0]->decision_duration[1].observe(Duration{3});
  process.traffic[1]->decision_duration[2].observe(Duration{5});
  process.shared[0].store.questions.add(2);
  process.shared[1].store.questions.add(3);
  process.shared[0].store.calls.add(2);
  process.shared[1].store.calls.add(1);
  process.shared[1].store.joined_calls.add(1);
  process.shared[0].chain.leased.add(7);
  process.shared[0].store.connects.add(4);
  process.shared[0].store.late_answers.add(5);
  process.shared[1].store.errors[static_cast<int>(store::Error::timeout)].add(6);
  process.shared[1].store.errors[static_cast<int>(store::Error::not_connected)].add(7);
  process.shared[0].node().breaker.not_connected.add(1);
  process.shared[1].chain.remembered.add(9);
  process.shared[1].chain.alone.add(10);
  process.shared[0].store.settlements_lost.add(11);
  process.shared[1].store.settlements_lost.add(12);
  process.store.settle(std::vector<store::Settlement>(13), {});
  process.health.report_instances({.running = 4, .replicas = 6, .differing = 2});
  process.config.redis.replicas.reset();
  const Series expected{
      {"weir_store_instances", "4"},
      {"weir_store_instances_differing", "2"},
      {"weir_store_replicas", "6"},
      {R"(weir_decision_duration_seconds_count{store="redis"})", "1"},
      {R"(weir_decision_duration_seconds_count{store="local"})", "1"},
      {R"(weir_decision_duration_seconds_sum{store="local"})", "0.000005"},
      {"weir_store_questions_total", "5"},
      {"weir_store_calls_total", "3"},
      {"weir_joined_calls_total", "1"},
      {"weir_leased_decisions_total", "7"},
      {"weir_store_connects_total", "4"},
      {"weir_store_late_answers_total", "5"},
      {R"(weir_store_errors_total{kind="timeout"})", "6"},
      {R"(weir_store_errors_total{kind="not_connected"})", "8"},
      {R"(weir_store_errors_total{kind="read_only"})", "0"},
      {"weir_denial_memory_hits_total", "9"},
      {"weir_store_fallbacks_total", "10"},
      {"weir_store_settlements_lost_total", "36"},
  };
  const Series series = series_of(rendered(process));
  check_series(series, expected);
  CHECK(series.count(R"(weir_decision_duration_seconds_count{store="memory"})") == 0);
  CHECK(series.count(R"(weir_store_errors_total{kind="none"})") == 0);
  process.config.redis.replicas = 7;
  CHECK(series_of(rendered(process)).at("weir_store_replicas") == "7");
}

TEST_CASE("the store is up if it is for every worker, the breaker as the worst of them") {
  using store::NodeControl;
  TestProcess process;
  process.share_store();
  const auto state = [&] {
    const auto series = series_of(rendered(process));
    return series.at("weir_store_up") + series.at("weir_store_breaker_state");
  };
  CHECK(state() == "00");
  process.health.report(0, {.connected = true, .deciding = true}, Instant{});
  CHECK(state() == "00");
  process.health.report(1, {.connected = true, .deciding = true}, Instant{});
  CHECK(state() == "10");
  process.shared[0].node().breaker.state = NodeControl::State::half_open;
  CHECK(state() == "11");
  process.shared[1].node("other:6379").breaker.state = NodeControl::State::open;
  CHECK(state() == "12");
  process.health.report(1, {.connected = false, .deciding = false, .last_error = "gone"},
                        Instant{});
  CHECK(state() == "02");
}

TEST_CASE("each node that is in use has its metrics, added up over the workers") {
  using store::NodeControl;
  TestProcess process;
  process.share_store();
  for (auto& worker : process.shared) {
    redis::NodeCounters& node = worker.node("10.0.0.1:6379");
    node.is_ready = true;
    node.breaker.errors.add(2);
    node.breaker.in_flight = 3;
    node.breaker.in_flight_limit = 20;
    node.breaker.latency.observe(Duration{300});
  }
  process.shared[1].node("10.0.0.2:6379").breaker.state = NodeControl::State::open;
  process.shared[1].nodes.of("10.0.0.3:6379").users = 0;
  const auto series = series_of(rendered(process));
  CHECK(series.at(R"(weir_store_node_up{node="10.0.0.1:6379"})") == "1");
  CHECK(series.at(R"(weir_store_node_up{node="10.0.0.2:6379"})") == "0");
  CHECK(series.at(R"(weir_store_node_errors_total{node="10.0.0.1:6379"})") == "4");
  CHECK(series.at(R"(weir_store_node_in_flight{node="10.0.0.1:6379"})") == "6");
  CHECK(series.at(R"(weir_store_node_in_flight_limit{node="10.0.0.1:6379"})") == "40");
  CHECK(series.at(R"(weir_store_node_breaker_state{node="10.0.0.2:6379"})") == "2");
  CHECK(series.at(R"(weir_store_node_duration_seconds_count{node="10.0.0.1:6379"})") == "2");
  CHECK_FALSE(series.contains(R"(weir_store_node_up{node="10.0.0.3:6379"})"));
  // One worker that has lost the node is enough.
  process.shared[0].node("10.0.0.1:6379").is_ready = false;
  CHECK(series_of(rendered(process)).at(R"(weir_store_node_up{node="10.0.0.1:6379"})") == "0");
}

TEST_CASE("metrics have only status codes that were answered") {
  const auto text = rendered(TestProcess({named_route("search")}));
  CHECK(text.find("weir_requests_total{") == std::string::npos);
  CHECK(text.find("# TYPE weir_requests_total counter\n") != std::string::npos);
}

TEST_CASE("metrics of routes that share a name share their series") {
  TestProcess process({named_route("/v1/**"), named_route("/v1/**"), named_route("none")});
  process.named[0]->routes[0]->count(200, Duration{1});
  process.named[0]->routes[1]->count(200, Duration{1});
  process.named[0]->routes[2]->count(404, Duration{1});
  process.named[0]->routes[3]->count(404, Duration{1});
  const auto series = series_of(rendered(process));
  CHECK(series.at(R"(weir_requests_total{route="/v1/**",code="200"})") == "2");
  CHECK(series.at(R"(weir_requests_total{route="none",code="404"})") == "2");
}

TEST_CASE("every sample follows the HELP and TYPE of its own family, once each") {
  std::istringstream lines(rendered(TestProcess({named_route("a"), named_route("b")})));
  std::set<std::string> families;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      CHECK(families.insert(family).second);
      std::getline(lines, line);
      CHECK(line.starts_with("# TYPE " + family + " "));
    } else {
      CHECK(line.starts_with(family));
    }
  }
  CHECK(families.size() == 36);
}

TEST_CASE("the exposition escapes label values") {
  admin::Exposition out;
  out.family("m", "gauge", "Help.");
  out.sample({{"a", "x\"y\\z\nw"}, {"b", "\xc3\xbc"}}, std::uint64_t{1});
  CHECK(out.text() ==
        "# HELP m Help.\n# TYPE m gauge\nm{a=\"x\\\"y\\\\z\\nw\",b=\"\xc3\xbc\"} 1\n");
}

TEST_CASE("the export has metrics while it is configured") {
  TestProcess process;
  CHECK(rendered(process).find("weir_telemetry") == std::string::npos);
  telemetry::ExportCounters counters;
  telemetry::SpanQueue queue;
  queue.set_most(1);
  for (int i = 0; i < 3; ++i)
    queue.add([](std::string& out) { out += "{}"; });
  counters.spans.ok.add(4);
  counters.spans.failed.add(2);
  counters.spans.dropped.add(512);
  counters.metrics.dropped.add(30);
  auto instruments = process.instruments();
  instruments.exports = &counters;
  instruments.spans = {&queue};
  auto series = series_of(admin::render_metrics(instruments, {}));
  CHECK(series[R"(weir_telemetry_exports_total{signal="spans",result="ok"})"] == "4");
  CHECK(series[R"(weir_telemetry_exports_total{signal="spans",result="failed"})"] == "2");
  CHECK(series[R"(weir_telemetry_exports_total{signal="metrics",result="ok"})"] == "0");
  CHECK(series[R"(weir_telemetry_dropped_total{signal="spans"})"] == "514");
  CHECK(series[R"(weir_telemetry_dropped_total{signal="metrics"})"] == "30");
}

TEST_CASE("the document for OTLP has the families of the text for Prometheus") {
  TestProcess process;
  telemetry::MetricsDocument document(instant_from_us(0), instant_from_us(1));
  admin::write_metrics(document, process.instruments(), {});
  const std::string text = document.take();
  std::size_t families = 0;
  for (std::size_t at = text.find("{\"name\":"); at != std::string::npos;
       at = text.find("{\"name\":", at + 1))
    ++families;
  std::istringstream lines(rendered(process));
  std::set<std::string> sampled;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::string name = line.substr(0, line.find_first_of("{ "));
    for (const char* const suffix : {"_seconds_bucket", "_seconds_sum", "_seconds_count"}) {
      if (name.ends_with(suffix)) name = name.substr(0, name.find(suffix)) + "_seconds";
    }
    INFO(name);
    if (sampled.insert(name).second)
      CHECK(text.find("{\"name\":\"" + name + '"') != std::string::npos);
  }
  CHECK(families == sampled.size());
}

TEST_CASE("events of quotas are counted by policy and percentage, and those of the webhook") {
  TestProcess process({named_route("search")});
  limiter::QuotaEvents events(1);
  limiter::QuotaEvent event{.key = {.identity = {}, .policy_id = 7}, .percent = 80};
  events.count(event, limiter::EventResult::logged);
  events.count(event, limiter::EventResult::logged);
  events.count(event, limiter::EventResult::elsewhere);
  event.percent = 100;
  events.count(event, limiter::EventResult::dropped);
  admin::Instruments in = process.instruments();
  const std::vector<int> percents{80, 100};
  in.quota_events = &events;
  in.policy_ids = std::vector<std::uint32_t>(in.limiter.policies.size(), 0);
  in.policy_ids.at(0) = 7;
  const std::string name = in.limiter.policies.at(0).name;
  CHECK(admin::render_metrics(in, {}).find("weir_events_total") == std::string::npos);
  in.event_percents = percents;
  const std::string alone = admin::render_metrics(in, {});
  check_series(alone,
               {{"weir_events_total{policy=\"" + name + R"(",at="80",result="logged"})", "2"},
                {"weir_events_total{policy=\"" + name + R"(",at="80",result="elsewhere"})", "1"},
                {"weir_events_total{policy=\"" + name + R"(",at="80",result="dropped"})", "0"},
                {"weir_events_total{policy=\"" + name + R"(",at="100",result="dropped"})", "1"}});
  CHECK(alone.find("weir_webhook") == std::string::npos);
  admin::WebhookCounters webhook;
  webhook.delivered.add(3);
  webhook.expired.add();
  webhook.failures.add(5);
  webhook.pending.set(2);
  in.webhook = &webhook;
  check_series(admin::render_metrics(in, {}),
               {{R"(weir_webhook_events_total{result="delivered"})", "3"},
                {R"(weir_webhook_events_total{result="expired"})", "1"},
                {R"(weir_webhook_events_total{result="queue_full"})", "0"},
                {R"(weir_webhook_events_total{result="rejected"})", "0"},
                {R"(weir_webhook_events_total{result="removed"})", "0"},
                {R"(weir_webhook_events_total{result="shutdown"})", "0"},
                {"weir_webhook_failures_total", "5"},
                {"weir_webhook_pending", "2"}});
}

TEST_CASE("the keys of JWT providers have an age once they have been fetched") {
  TestProcess process;
  CHECK(rendered(process).find("weir_jwks") == std::string::npos);
  const auto keys = std::make_shared<admin::KeyHealth>();
  const auto none = std::make_shared<admin::KeyHealth>();
  keys->ok.add(3);
  keys->failed.add(2);
  keys->set(std::chrono::seconds(61), "");
  none->failed.add();
  process.keys = {{"idp", keys}, {"same", keys}, {"other", none}};
  auto series = series_of(rendered(process));
  CHECK(series[R"(weir_jwks_age_seconds{provider="idp"})"] == "61");
  CHECK(series[R"(weir_jwks_age_seconds{provider="same"})"] == "61");
  CHECK_FALSE(series.contains(R"(weir_jwks_age_seconds{provider="other"})"));
  CHECK(series[R"(weir_jwks_fetches_total{provider="idp",result="ok"})"] == "3");
  CHECK(series[R"(weir_jwks_fetches_total{provider="idp",result="failed"})"] == "2");
  CHECK(series[R"(weir_jwks_fetches_total{provider="other",result="ok"})"] == "0");
  CHECK(series[R"(weir_jwks_fetches_total{provider="other",result="failed"})"] == "1");
}
