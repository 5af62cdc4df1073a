#include "telemetry/export_counters.hpp"

#include "catch.hpp"

namespace weir::telemetry {

TEST_CASE("signals have the names of the configuration") {
  CHECK(to_string(Signal::spans) == "spans");
  CHECK(to_string(Signal::metrics) == "metrics");
}

}  // namespace weir::telemetry
