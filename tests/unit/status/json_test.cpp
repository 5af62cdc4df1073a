#include "status/json.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "unit/status/sample.hpp"

namespace weir::status {
namespace {

using nlohmann::json;

json count_of(std::uint64_t total, double per_second) {
  return {{"total", total}, {"per_second", per_second}};
}

TEST_CASE("a reload in shadow as JSON") {
  Status status = sample_status();
  status.configuration.shadow_reload = sample_shadow_reload();
  json expected{{"state", "shadow"}, {"hash", "ab"},        {"until", "2026-01-01T00:00:00Z"},
                {"decisions", 700},  {"max_flips", "0.5%"}, {"flips", 2},
                {"skipped", 1}};
  const auto shown = [&] {
    return json::parse(to_json(sample_report(status)))["configuration"]["shadow_reload"];
  };
  CHECK(shown() == expected);
  status.configuration.shadow_reload.state = "dropped";
  status.configuration.shadow_reload.reason = "why";
  expected["state"] = "dropped";
  expected["reason"] = "why";
  CHECK(shown() == expected);
}

TEST_CASE("a report as JSON") {
  const json made = json::parse(to_json(sample_report()));
  CHECK(made["at"] == 1'700'000'000.5);
  CHECK(made["version"] == "1.2.3");
  CHECK(made["state"] == "ready");
  CHECK(made["degraded"] == json{"redis is lost"});
  CHECK(made["started_at"] == 1'699'999'000);
  CHECK(made["workers"] == 2);
  CHECK(made["resident_bytes"] == 20 << 20);
  CHECK(made["connections"] == 9);
  CHECK(made["configuration"] == json{{"hash", "c0ffee"},
                                      {"loaded_at", 1'699'999'000},
                                      {"reloads", 3},
                                      {"failed_reloads", 1},
                                      {"restart_needed", {"workers"}},
                                      {"shadow_reload", {{"state", "none"}}}});
  const json durations{{"p50", 0.00005}, {"p90", 0.00009}, {"p99", 0.000099}};
  const json traffic{{"over", 10.0},
                     {"requests", count_of(8, 0.8)},
                     {"denied", count_of(2, 0.2)},
                     {"server_errors", count_of(1, 0.1)},
                     {"duration", durations}};
  CHECK(made["traffic"] == traffic);
  CHECK(made["recent"] == traffic);
  CHECK(made["routes"] == json::array({{{"name", hostile},
                                        {"requests", count_of(8, 0.8)},
                                        {"denied", count_of(2, 0.2)},
                                        {"client_errors", count_of(2, 0.2)},
                                        {"server_errors", count_of(1, 0.1)},
                                        {"duration", durations}}}));
  CHECK(made["policies"] == json::array({{{"name", "p"},
                                          {"algorithm", "gcra"},
                                          {"shadow", true},
                                          {"decisions", count_of(8, 0.8)},
                                          {"denied", count_of(2, 0.2)},
                                          {"shadow_denied", count_of(1, 0.1)},
                                          {"delayed", count_of(0, 0)},
                                          {"errors", count_of(0, 0)},
                                          {"held", 3},
                                          {"queued", nullptr},
                                          {"leased", 7}}}));
  CHECK(made["decisions"] ==
        json::array({{{"name", "redis"}, {"decisions", count_of(0, 0)}, {"duration", nullptr}}}));
  CHECK(made["upstreams"] ==
        json::array({{{"name", "api"},
                      {"answered", count_of(6, 0.6)},
                      {"failed", count_of(1, 0.1)},
                      {"unhealthy", count_of(0, 0)},
                      {"servers",
                       {{{"name", "a:80"}, {"up", true}}, {{"name", "b:80"}, {"up", false}}}}}}));
  CHECK(made["store"] == json{{"type", "redis"},
                              {"up", false},
                              {"memory_keys", 0},
                              {"memory_evictions", 0},
                              {"instances", 4},
                              {"differing", 1},
                              {"replicas", 3},
                              {"fallbacks", 11},
                              {"remembered", 0},
                              {"leased", 0},
                              {"nodes", json::array({{{"name", "redis:6379"},
                                                      {"up", false},
                                                      {"breaker", "half open"},
                                                      {"in_flight", 12},
                                                      {"in_flight_limit", 40},
                                                      {"decisions", count_of(0, 0)},
                                                      {"errors", count_of(0, 0)},
                                                      {"latency", nullptr}}})},
                              {"nodes_omitted", 0}});
  CHECK(made["token_keys"] == json::array({{{"provider", "idp"},
                                            {"age", 90.0},
                                            {"fetched", 4},
                                            {"failed", 1},
                                            {"problem", "no answer"}},
                                           {{"provider", "new"},
                                            {"age", nullptr},
                                            {"fetched", 0},
                                            {"failed", 0},
                                            {"problem", ""}}}));
  CHECK(!made.contains("top"));
}

TEST_CASE("rates are null without an earlier status, and have three decimals") {
  const json first = json::parse(to_json({.report = compare(nullptr, sample_status())}));
  CHECK(first["traffic"]["over"].is_null());
  CHECK(first["recent"]["over"].is_null());
  CHECK(first["routes"][0]["requests"] == json{{"total", 8}, {"per_second", nullptr}});
  Status before{.at = sample_status().at - std::chrono::seconds(3)};
  const json later = json::parse(to_json({.report = compare(&before, sample_status())}));
  CHECK(later["routes"][0]["requests"]["per_second"] == 2.667);
}

TEST_CASE("the memory store has neither nodes nor instances, and top keys are listed if counted") {
  Status status = sample_status();
  status.store = {.memory_keys = 5, .memory_evictions = 2};
  status.top = {.window = std::chrono::seconds(60),
                .keys = {{.identity = "api_key",
                          .hash = "abc",
                          .policy = "p",
                          .route = "r",
                          .requests = 9,
                          .denied = 4,
                          .requests_error = 2}}};
  const json made = json::parse(to_json({.report = compare(nullptr, status)}));
  CHECK(made["store"] ==
        json{{"type", "memory"}, {"up", true}, {"memory_keys", 5}, {"memory_evictions", 2}});
  CHECK(made["top"] ==
        json{{"window", 60.0},
             {"keys", json::array({{{"identity", "api_key"},
                                    {"hash", "abc"},
                                    {"policy", "p"},
                                    {"route", "r"},
                                    {"requests", 9},
                                    {"denied", 4},
                                    {"error", {{"requests", 2}, {"denied", 0}}}}})}});
}

TEST_CASE("the JSON is one line, whatever the texts are") {
  Status status = sample_status();
  status.routes[0].name = "a\nb\r\n\xff";
  const std::string text = to_json({.report = compare(nullptr, status)});
  CHECK(text.find('\n') == std::string::npos);
  CHECK(json::parse(text)["routes"][0]["name"] == "a\nb\r\n\ufffd");
}

}  // namespace
}  // namespace weir::status
