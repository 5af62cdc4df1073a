#include "status/status.hpp"

#include "catch.hpp"

namespace weir::status {
namespace {

TEST_CASE("the states of a breaker have the names of the documents") {
  CHECK(to_string(Breaker::closed) == "closed");
  CHECK(to_string(Breaker::half_open) == "half open");
  CHECK(to_string(Breaker::open) == "open");
}

}  // namespace
}  // namespace weir::status
