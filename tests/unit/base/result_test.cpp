#include "base/result.hpp"

#include <stdexcept>

#include "catch.hpp"

namespace weir {

TEST_CASE("value() of a result with a problem throws its message") {
  const Result<int> problem = Problem{"no such file"};
  CHECK_FALSE(problem.has_value());
  CHECK_THROWS_WITH(problem.value(), "no such file");
  CHECK(Result<int>(7).value() == 7);
}

}  // namespace weir
