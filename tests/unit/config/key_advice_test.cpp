#include "config/key_advice.hpp"

#include <algorithm>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::config {

TEST_CASE("the shape of a path has no index and no name") {
  CHECK(shape_of("") == "");
  CHECK(shape_of("policies.per_client.rate") == "policies.*.rate");
  CHECK(shape_of("routes[3].limits[10].policy") == "routes[].limits[].policy");
  CHECK(shape_of("plans.gold.per_user.rate") == "plans.*.*.rate");
  CHECK(shape_of("store.redis.url") == "store.redis.url");
  CHECK(shape_of("upstreams.\"a.b\".servers[0].url") == "upstreams.*.servers[].url");
  CHECK(shape_of("identities.a.any_of[1].header") == "identities.*.any_of[].header");
}

TEST_CASE("keys that belong elsewhere, and those of other programs") {
  CHECK(key_advice("routes[]", "rate").starts_with("; define a policy, as in policies:"));
  CHECK(key_advice("routes[].match", "rate").empty());
  CHECK(key_advice("anything", "http2").find("HTTP/1.1") != std::string::npos);
  CHECK(key_advice("policies.*", "gcra").starts_with("; write it as a value"));
  CHECK(key_advice("routes[]", "gcra").empty());
  CHECK(key_advice("routes[].limits[]", "dry_run") == "; write mode: shadow in the policy");
  CHECK(key_advice("routes[].respond", "location") == "; write headers: {location: URL}");
  CHECK(key_advice("routes[]", "location") == "; write match: {path: /PREFIX/**} in a route");
}

TEST_CASE("no advice is about a key that exists") {
  for (const std::string& key : known_keys()) {
    const std::size_t end = key.find_last_of(".");
    const std::string map = end == std::string::npos ? "" : key.substr(0, end);
    const std::string name = end == std::string::npos ? key : key.substr(end + 1);
    CAPTURE(key);
    // Some maps have advice on any key that does not exist.
    CHECK(key_advice(map, name) == key_advice(map, "no such key"));
  }
}

}  // namespace weir::config
