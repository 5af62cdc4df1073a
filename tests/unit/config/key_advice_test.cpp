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

TEST_CASE("every map has an example") {
  for (const std::string& key : known_keys()) {
    const std::size_t end = key.find_last_of(".");
    if (end == std::string::npos) continue;
    const std::string map = key.substr(0, end);
    CAPTURE(map);
    CHECK_FALSE(example_of(map).empty());
  }
}

TEST_CASE("every example and advice is for a key that exists") {
  const auto known = known_keys();
  for (const char* const shape :
       {"policies.*.rate", "routes[].limits[].policy", "routes[].match.path"}) {
    CHECK(std::ranges::find(known, shape) != known.end());
    CHECK_FALSE(text_advice(shape).empty());
  }
  CHECK(text_advice("workers").empty());
  CHECK(key_advice("routes[]", "rate").starts_with("; define a policy, as in policies:"));
  CHECK(key_advice("routes[].match", "rate").empty());
  CHECK(key_advice("anything", "http2").find("HTTP/1.1") != std::string::npos);
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
