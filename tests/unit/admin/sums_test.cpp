// Sums over the workers that the rate limit service adds.
#include "admin/sums.hpp"

#include <memory>
#include <string>

#include "admin/metrics.hpp"
#include "admin/process_stats.hpp"
#include "catch.hpp"
#include "test_process.hpp"

namespace weir::admin {
namespace {

TEST_CASE("calls of the rate limit service are a route after those of the proxy") {
  TestProcess process({named_route("a")});
  for (const auto& worker : process.named)
    worker->routes.push_back(std::make_shared<RouteCounters>());
  process.named[0]->routes[1]->count(200, Duration{1});
  process.named[1]->routes[2]->count(404, Duration{1});
  const options::RateLimitService service;
  Instruments instruments = process.instruments();
  instruments.rate_limit_service = &service;
  const auto sums = sum_routes(instruments);
  REQUIRE(sums.size() == 3);
  CHECK(sums[0].name == "a");
  CHECK(sums[1].name == "rate_limit_service");
  CHECK(sums[1].by_status[100] == 1);
  CHECK(sums[2].name == "none");
  CHECK(sums[2].by_status[304] == 1);
}

TEST_CASE("files of the rate limit service are a kind of files that are read again") {
  const TestProcess process;
  FileReloads files;
  files.limit_files.ok.add(2);
  files.limit_files.failed.add();
  Instruments instruments = process.instruments();
  instruments.file_reloads = &files;
  const std::string without = render_metrics(instruments, {});
  CHECK(without.find("weir_file_reloads_total") == std::string::npos);
  const options::RateLimitService service;
  for (const auto& worker : process.named)
    worker->routes.push_back(std::make_shared<RouteCounters>());
  instruments.rate_limit_service = &service;
  const std::string text = render_metrics(instruments, {});
  CHECK(text.find("weir_file_reloads_total{kind=\"limit_file\",result=\"ok\"} 2\n") !=
        std::string::npos);
  CHECK(text.find("weir_file_reloads_total{kind=\"limit_file\",result=\"failed\"} 1\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace weir::admin
