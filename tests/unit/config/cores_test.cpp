#include "catch.hpp"
#include "config/load.hpp"

namespace weir::config {
namespace {

TEST_CASE("a cgroup allows whole cores, at least one") {
  CHECK(cores_of_cpu_max("200000 100000") == 2);
  CHECK(cores_of_cpu_max("250000 100000\n") == 2);
  CHECK(cores_of_cpu_max("50000 100000") == 1);
  CHECK(cores_of_cpu_max("max 100000") == std::nullopt);
  CHECK(cores_of_cpu_max("100000 0") == std::nullopt);
  CHECK(cores_of_cpu_max("") == std::nullopt);
}

TEST_CASE("this process has at least one core") {
  CHECK(available_cores() >= 1);
}

}  // namespace
}  // namespace weir::config
