// The report for programs.
#include "catch.hpp"
#include "replay/report.hpp"

namespace weir::replay {

TEST_CASE("the JSON of a report has every member, also without requests") {
  CHECK(
      to_json({}) ==
      R"({"requests":0,"unreadable":0,"first_unreadable":[],"from":null,"to":null,"late":0,"ahead":0,)"
      R"("no_client":0,"outcomes":{"allowed":0,"delayed":0,"denied":0,"shadow_denied":0,)"
      R"("undecided":0,"no_route":0,"malformed":0,"service_calls":0},"reproduction":{"compared":0,"different":0,"first_different":[]},"absent":[],"routes":[],"policies":[],"keys":[],)"
      R"("timeline":{"from":null,"period_us":1000000,"requests":[],"denied":[]},"other_rates":[],)"
      R"("suggestions":null,"comparison":null})");
}

TEST_CASE("the JSON of a key has its peak and its first denial") {
  Report report{.lines = {.read = 1}};
  report.first_at = report.last_at = Instant{std::chrono::seconds(1'767'268'800)};
  report.absent = {{.identity = "a", .requests = 2}};
  report.keys = {{.policy = "p",
                  .identity = "client",
                  .hash = {.low = 2, .high = 1},
                  .address = "::1",
                  .use = {.requests = 3, .denied = 1},
                  .peak = 9,
                  .window = std::chrono::seconds(1),
                  .first_denied_at = report.first_at}};
  const std::string json = to_json(report);
  CHECK(json.find(R"("from":"2026-01-01T12:00:00Z")") != std::string::npos);
  CHECK(
      json.find(R"({"policy":"p","identity":"client","hash":"00000000000000010000000000000002",)"
                R"("address":"::1","requests":3,"denied":1,"first_denied":"2026-01-01T12:00:00Z",)"
                R"("peak":9,"peak_window_us":1000000})") != std::string::npos);
}

}  // namespace weir::replay
