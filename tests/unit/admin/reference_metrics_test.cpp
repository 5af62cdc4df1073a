#include "admin/reference_metrics.hpp"

#include <string>

#include "admin/exposition.hpp"
#include "catch.hpp"
#include "test_process.hpp"

namespace {

using namespace weir;

options::DescriptorNode limited(std::string text, std::size_t policy) {
  options::DescriptorNode node;
  node.text = std::move(text);
  node.limit = options::DescriptorLimit{.policy = policy};
  return node;
}

std::string rendered(const admin::TestProcess& process, const options::RateLimitService* service) {
  admin::Instruments instruments = process.instruments();
  instruments.rate_limit_service = service;
  admin::Exposition out;
  admin::write_reference_metrics(out, instruments);
  return out.text();
}

}  // namespace

TEST_CASE("The metrics of envoyproxy/ratelimit are written if the configuration says so") {
  admin::TestProcess process;
  for (auto& worker : process.policies)
    worker.resize(2, worker.front());
  process.policies[0][0]->hits.total.add(5);
  process.policies[1][0]->hits.total.add(2);
  process.policies[0][0]->hits.over.add(3);
  process.reloads.ok.add(4);

  auto deep = limited("user_root", 0);
  deep.children = {limited("path", 1)};
  deep.children[0].children = {limited("method_GET", 0)};
  deep.children[0].children[0].children = {limited("more", 1)};
  options::RateLimitService service;
  service.domains = {{.name = "api", .descriptors = {deep}}};
  CHECK(rendered(process, nullptr).empty());
  CHECK(rendered(process, &service).empty());

  service.reference_metrics = true;
  const std::string text = rendered(process, &service);
  const auto has = [&](const std::string& line) {
    CAPTURE(line, text);
    CHECK(text.find(line + '\n') != std::string::npos);
  };
  const std::string total = "ratelimit_service_rate_limit_total_hits";
  has(total + R"({domain="api",key1="user_root",key2="",key3=""} 7)");
  has(total + R"({domain="api",key1="user_root",key2="path",key3=""} 7)");
  has(total + R"({domain="api",key1="user_root",key2="path",key3="method_GET"} 7)");
  has(total + R"({domain="api",key1="user_root",key2="path",key3="method_GET.more"} 7)");
  has(R"(ratelimit_service_rate_limit_over_limit{domain="api",key1="user_root",key2="",key3=""} 3)");
  has(R"(ratelimit_service_rate_limit_within_limit{domain="api",key1="user_root",key2="",key3=""} 0)");
  has("ratelimit_service_config_load_success 5");
  has("ratelimit_service_config_load_error 0");
}
