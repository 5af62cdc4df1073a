#include "http/refusal.hpp"

#include <stdexcept>
#include <string>

#include "base/result.hpp"
#include "catch.hpp"

namespace weir::http {
namespace {

TEST_CASE("value() of a result with a refusal throws its detail") {
  const Result<int, Refusal> result = Refusal{400, "no Host field"};
  try {
    (void)result.value();
    FAIL("no exception");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()) == "no Host field");
  }
}

}  // namespace
}  // namespace weir::http
