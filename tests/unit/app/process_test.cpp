#include "app/process.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

config::Config configured(std::size_t workers, bool with_admin, std::size_t checked_servers) {
  config::Config config;
  config.workers = workers;
  config.listen.resize(1);
  if (with_admin) config.admin.emplace();
  auto& upstream = config.upstreams.emplace_back();
  upstream.servers.resize(checked_servers);
  if (checked_servers != 0) upstream.health_check.emplace();
  return config;
}

TEST_CASE("clients get three quarters of what is not set aside") {
  // 32, 64 refusals, 11 a worker; admin 66; checks one a server and worker
  CHECK(plan_descriptors(configured(1, false, 0), 1107).set_aside == 107);
  CHECK(plan_descriptors(configured(1, true, 0), 1173).set_aside == 173);
  CHECK(plan_descriptors(configured(4, true, 3), 2000).set_aside == 162 + 4 * (11 + 3));
  config::Config with_keys = configured(1, false, 0);
  with_keys.key_urls.resize(2);
  CHECK(plan_descriptors(with_keys, 1113).set_aside == 107 + 2 * 3);
  config::Config with_export = configured(1, false, 0);
  with_export.otlp.emplace();
  CHECK(plan_descriptors(with_export, 1113).set_aside == 107 + 2 * 3);
  config::Config with_webhook = configured(1, false, 0);
  with_webhook.webhook.emplace();
  CHECK(plan_descriptors(with_webhook, 1119).set_aside == 107 + 4 * 3);
  config::Config with_sentinels = configured(4, false, 0);
  with_sentinels.redis.connection.topology = options::RedisTopology::sentinel;
  CHECK(plan_descriptors(with_sentinels, 1113).set_aside == 96 + 4 * (11 + 4));
  const DescriptorPlan plan = plan_descriptors(configured(1, false, 0), 1107);
  CHECK(plan.connections == 1000);
  CHECK(plan.downstream == 750);
}

TEST_CASE("all parts together never exceed the limit, and each is worth having") {
  for (const std::size_t workers : {1, 2, 64}) {
    const config::Config config = configured(workers, true, 5);
    for (std::size_t limit = fewest_descriptors(config); limit < 1'000'000; limit = limit * 9 / 8) {
      CAPTURE(workers, limit);
      const DescriptorPlan plan = plan_descriptors(config, limit);
      CHECK(plan.set_aside + plan.connections == limit);
      CHECK(plan.downstream >= 48);
      CHECK(plan.connections - plan.downstream >= 16);
    }
  }
  CHECK(fewest_descriptors(configured(1, true, 0)) == 256);
  CHECK(fewest_descriptors(configured(64, true, 0)) == 162 + 64 * 11 + 64);
}

}  // namespace
TEST_CASE("an instance has a name") {
  CHECK(instance_name().ends_with(':' + std::to_string(::getpid())));
}

}  // namespace weir::app
