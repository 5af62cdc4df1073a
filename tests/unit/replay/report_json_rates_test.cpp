// Other rates, suggestions, flips and the timeline in the JSON report.
#include "replay/report_json_rates.hpp"

#include "catch.hpp"
#include "sample_rates.hpp"

namespace weir::replay {

TEST_CASE("a policy has its rates") {
  CHECK(rates_json(sample_rates().rates) ==
        R"([{"policy":"p","plan":"gold","drops_burst":false,"requests":1000,"keys":50,"rates":[)"
        R"({"rate":"5/1s","burst":20,"times":"x0.5","round":true,"denied":300,"denied_keys":9},)"
        R"({"rate":"10/1s","burst":20,"times":"x1","round":true,"denied":30,"denied_keys":2},)"
        R"({"rate":"50/1s","burst":20,"times":null,"round":true,"denied":1,"denied_keys":0}]}])");
}

TEST_CASE("a concurrency policy has limits") {
  CHECK(rates_json({{.policy = "slots", .rates = {{.limit = 5, .burst = 5, .denied = 3}}}}) ==
        R"([{"policy":"slots","plan":null,"drops_burst":false,"requests":0,"keys":0,"rates":[)"
        R"({"rate":null,"limit":5,"times":null,"round":false,"denied":3,"denied_keys":0}]}])");
}

TEST_CASE("a suggestion has its rate and the next smaller one, or the highest") {
  CHECK(
      suggestions_json(*sample_rates().suggestions) ==
      R"({"share":"99.9","policies":[{"policy":"p","plan":"gold","requests":1000,"keys":50,)"
      R"("rate":{"rate":"50/1s","burst":20,"times":null,"round":true,"denied":1,"denied_keys":0},)"
      R"("smaller":{"rate":"10/1s","burst":20,"times":"x1","round":true,"denied":30,"denied_keys":2},)"
      R"("highest":null,"drops_burst":false},)"
      R"({"policy":"q","plan":null,"requests":0,"keys":0,"rate":null,"smaller":null,"highest":)"
      R"({"rate":"10000/1s","burst":20,"times":null,"round":true,"denied":7,"denied_keys":1},)"
      R"("drops_burst":false}],"without_durations":["slots"]})");
}

TEST_CASE("a comparison has both directions") {
  CHECK(
      flips_json(*sample_rates().flips) ==
      R"({"file":"other.yaml","decisions":1000,"flips":12,"to_denied":10,"to_admitted":1,)"
      R"("not_compared":0,"secret_differs":true,"denied_keys":[{"policy":"p","identity":"client",)"
      R"("hash":"00000000000000010000000000000002","address":"192.0.2.1","flips":9,"error":1}],)"
      R"("admitted_keys":[{"policy":"q","identity":"key","hash":"00000000000000030000000000000004",)"
      R"("address":null,"flips":1,"error":0}]})");
}

TEST_CASE("a timeline has its periods") {
  CHECK(timeline_json(sample_rates().timeline) ==
        R"({"from":"2026-01-01T12:00:00Z","period_us":1000000,"requests":[1,1],"denied":[0,1]})");
  CHECK(timeline_json({}) == R"({"from":null,"period_us":1000000,"requests":[],"denied":[]})");
}

}  // namespace weir::replay
