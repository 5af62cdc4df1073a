#include "app/reload_log.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

TEST_CASE("a list of keys ends with the number of those that are omitted") {
  struct Row {
    std::vector<std::string> keys;
    std::size_t omitted;
    const char* text;
  };
  const Row rows[] = {
      {{}, 0, ""},
      {{"listen"}, 0, "listen"},
      {{"listen", "routes.a"}, 0, "listen, routes.a"},
      {{"routes.a"}, 1, "routes.a and 1 more"},
      {{"routes.a"}, 980, "routes.a and 980 more"},
      {{"routes.a", "routes.b"}, 9'980, "routes.a, routes.b and 9,980 more"},
      {{"routes.a"}, 1'234'567, "routes.a and 1,234,567 more"},
  };
  for (const Row& row : rows)
    CHECK(listed(row.keys, row.omitted) == row.text);
}

}  // namespace
}  // namespace weir::app
