#include "cli/proxy_configuration.hpp"

#include <string>

#include "catch.hpp"
#include "config/load.hpp"
#include "identity/identity.hpp"

namespace {

using weir::cli::ProxyFlags;
namespace config = weir::config;

std::shared_ptr<const config::Config> loaded(const ProxyFlags& flags) {
  const auto yaml = weir::cli::proxy_configuration(flags);
  REQUIRE(yaml.has_value());
  INFO(*yaml);
  const auto result = config::load_text(*yaml, config::process_environment("."));
  if (!result) FAIL(result.error().front().to_string());
  if (flags.redis.empty()) CHECK((*result)->presentation.warnings.empty());
  return *result;
}

ProxyFlags flags() {
  ProxyFlags least;
  least.to = "http://127.0.0.1:3000";
  least.limit = "10/s";
  return least;
}

}  // namespace

TEST_CASE("the required flags make one upstream, one policy, one route") {
  const auto made = loaded(flags());
  REQUIRE(made->listen.size() == 1);
  CHECK(made->listen[0].address.to_string() == "127.0.0.1:8080");
  CHECK_FALSE(made->admin);
  REQUIRE(made->upstreams.size() == 1);
  CHECK(made->upstreams[0].servers[0].port == 3000);
  REQUIRE(made->limiter.policies.size() == 1);
  CHECK(made->limiter.policies[0].numbers.algorithm == weir::rules::Algorithm::gcra);
  CHECK(made->limiter.policies[0].numbers.capacity == 10);
  REQUIRE(made->proxy.routes.size() == 1);
  REQUIRE(made->proxy.routes[0].limits.size() == 1);
  const auto& limit = made->proxy.routes[0].limits[0];
  CHECK(weir::identity::describe(made->limiter.identities[limit.identity].source) ==
        "client_address");
  CHECK(made->limiter.identities[limit.identity].name == "client");
  CHECK_FALSE(limit.otherwise);
}

TEST_CASE("all flags are carried over") {
  auto given = flags();
  given.burst = 25;
  given.key = "header:x-api-key";
  given.listen = "[::1]:0";
  given.admin = "127.0.0.1:9091";
  const auto made = loaded(given);
  CHECK(made->listen[0].address.to_string() == "[::1]:0");
  REQUIRE(made->admin);
  CHECK(made->admin->address.to_string() == "127.0.0.1:9091");
  CHECK(made->limiter.policies[0].numbers.capacity == 25);
  const auto& limit = made->proxy.routes[0].limits[0];
  CHECK(weir::identity::describe(made->limiter.identities[limit.identity].source) ==
        "header x-api-key");
  CHECK(made->limiter.identities[limit.identity].name == "key");
  REQUIRE(limit.otherwise);
  CHECK(made->limiter.identities[*limit.otherwise].name == "client");
  CHECK(weir::identity::describe(made->limiter.identities[*limit.otherwise].source) ==
        "client_address");
}

TEST_CASE("with --redis the limit is shared") {
  auto given = flags();
  given.redis = "redis://:p%22ss@127.0.0.1:6380/1";
  const auto made = loaded(given);
  CHECK(made->store_type == config::StoreType::redis);
  CHECK(made->redis.connection.port == 6380);
  CHECK(made->redis.connection.database == 1);
  CHECK(made->redis.connection.password.reveal() == "p\"ss");
  CHECK(loaded(flags())->store_type == config::StoreType::memory);
}

TEST_CASE("a key names a place and a name in it") {
  for (const std::string key : {"query:key", "cookie:session", "header:x:y"}) {
    auto given = flags();
    given.key = key;
    CHECK(weir::cli::proxy_configuration(given).has_value());
  }
  for (const std::string key :
       {"", "client", "header", "header:", ":x", "path:id", "jwt:sub", "HEADER:x"}) {
    auto given = flags();
    given.key = key;
    CAPTURE(key);
    CHECK(weir::cli::proxy_configuration(given).has_error());
  }
}
