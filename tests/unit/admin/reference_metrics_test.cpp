#include "admin/reference_metrics.hpp"

#include <chrono>
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
  process.traffic[1]->rate_limit_calls.should_rate_limit.requests.add(6);
  process.traffic[0]->rate_limit_calls.should_rate_limit.duration.observe(std::chrono::seconds(2));
  process.traffic[0]->rate_limit_calls.undecided.add(2);
  process.traffic[1]->rate_limit_calls.invalid.add();
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
  has(total + R"({domain="api",key1="user_root",key2=""} 7)");
  // Three limits: what comes after the second key is not in the labels.
  has(total + R"({domain="api",key1="user_root",key2="path"} 21)");
  has(R"(ratelimit_service_rate_limit_over_limit{domain="api",key1="user_root",key2=""} 3)");
  has(R"(ratelimit_service_rate_limit_within_limit{domain="api",key1="user_root",key2=""} 0)");
  has(R"(ratelimit_service_total_requests{grpc_method="ShouldRateLimit"} 6)");
  has(R"(ratelimit_service_total_requests{grpc_method="Check"} 0)");
  has(R"(ratelimit_service_response_time_seconds_sum{grpc_method="ShouldRateLimit"} 2)");
  has(R"(ratelimit_service_should_rate_limit_error{err_type="redis_error"} 2)");
  has(R"(ratelimit_service_should_rate_limit_error{err_type="service_error"} 1)");
  has("ratelimit_service_config_load_success 5");
  has("ratelimit_service_config_load_error 0");
}

TEST_CASE("Names with values of requests are samples beside the limits of the configuration") {
  admin::TestProcess process;
  options::RateLimitService service;
  service.domains = {{.name = "api", .descriptors = {limited("user_root", 0)}}};
  service.reference_metrics = true;
  process.policies[0][0]->hits.total.add(5);
  process.traffic[0]->named_hits.find_or_add("api.user_root")->total.add(2);
  process.traffic[0]->named_hits.find_or_add("api.user_ann")->total.add(3);
  process.traffic[1]->named_hits.find_or_add("api.user_ann")->total.add(4);
  const std::string text = rendered(process, &service);
  CAPTURE(text);
  const std::string total = "ratelimit_service_rate_limit_total_hits";
  CHECK(text.find(total + R"({domain="api",key1="user_root",key2=""} 7)") != std::string::npos);
  CHECK(text.find(total + R"({domain="api",key1="user_ann",key2=""} 7)") != std::string::npos);
}
