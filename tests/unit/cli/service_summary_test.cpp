// The limits of the rate limit service in `weir check --verbose`.
#include "cli/service_summary.hpp"

#include <sstream>
#include <string>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

std::string printed(const config::Config& config) {
  std::ostringstream out;
  print_rate_limit_service(out, config);
  return out.str();
}

TEST_CASE("each limit of the files and each descriptor is printed") {
  const auto loaded = config::load_text(R"(
policies: {p: {algorithm: gcra, rate: 10/1s, burst: 20}}
rate_limit_service:
  descriptors:
  - {domain: edge, entries: {api_key: "*", path: "${NOT_SET:-/search}"}, policy: p}
)",
                                        config::process_environment("x"));
  REQUIRE(loaded.has_value());
  config::Config config = **loaded;
  config.limiter.policies.push_back(config.limiter.policies.front());
  config.limiter.policies.back().name = "edge.a.b";
  const std::size_t added = config.limiter.policies.size() - 1;
  options::DescriptorNode inner{.text = "b", .key = "b"};
  inner.limit = options::DescriptorLimit{.policy = added};
  options::DescriptorNode outer{.text = "a", .key = "a"};
  outer.children = {inner};
  options::DescriptorNode free{.text = "free", .key = "free"};
  free.limit = options::DescriptorLimit{};
  options::DescriptorNode none{.text = "none_x", .key = "none"};
  none.limit = options::DescriptorLimit{.policy = added, .denies_all = true};
  config.rate_limit_service->domains = {{.name = "edge", .descriptors = {outer, free, none}}};
  CHECK(printed(config) ==
        "domain edge\n"
        "  a\n"
        "    b: policy edge.a.b: gcra 10/1s, 20 at once\n"
        "  free: unlimited\n"
        "  none_x: policy edge.a.b: denies every request\n"
        "descriptor of edge: api_key *, path ${NOT_SET:-/search}\n"
        "  policy p: gcra 10/1s, 20 at once\n");
  CHECK(printed(config::Config{}).empty());
}

}  // namespace
}  // namespace weir::cli
