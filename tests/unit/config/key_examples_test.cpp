#include "config/key_examples.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::config {

TEST_CASE("every map has an example") {
  for (const std::string& key : known_keys()) {
    const std::size_t end = key.find_last_of(".");
    if (end == std::string::npos) continue;
    const std::string map = key.substr(0, end);
    CAPTURE(map);
    CHECK_FALSE(example_of(map).empty());
  }
}

TEST_CASE("advice on texts is for keys that exist") {
  const auto known = known_keys();
  for (const char* const shape :
       {"policies.*.rate", "routes[].limits[].policy", "routes[].match.path"}) {
    CHECK(std::ranges::find(known, shape) != known.end());
    CHECK_FALSE(text_advice(shape).empty());
  }
  CHECK(text_advice("workers").empty());
}

}  // namespace weir::config
