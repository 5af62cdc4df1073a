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

TEST_CASE("The labels of a limit are the parts of its name, as the exporter splits it") {
  const auto labels = [](const std::string& name) {
    const auto [domain, key1, key2] = admin::reference_labels(name);
    return domain + ' ' + key1 + ' ' + key2;
  };
  CHECK(labels("api.user") == "api user ");
  CHECK(labels("api.user_root.path_/a") == "api user_root path_/a");
  CHECK(labels("api.a.b.c.d") == "api a b");
  CHECK(labels("api.file_a.txt") == "api file_a txt");
  CHECK(labels("api.example.org.user") == "api example org");
  CHECK(labels("api.route_a:b|c") == "api route_a_b_c ");
  CHECK(labels("api.ip_192.0.2.1.user") == "api ip_192_0_2_1 user");
  CHECK(labels("api.ip_192.0.2.1/24") == "api ip_192_0_2_1/24 ");
  CHECK(labels("api.version_1.2.3") == "api version_1 2");
  CHECK(labels("api.ip_1234.0.2.1") == "api ip_1234_0_2_1 ");
  CHECK(labels("api.ip_1.2.3.4567.x") == "api ip_1_2_3_4567 x");
  CHECK(labels("api.a..b") == "api a ");
}
