#include "store/error.hpp"

#include <set>

#include "catch.hpp"

namespace weir::store {

TEST_CASE("Every error has a name of its own") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < error_count; ++i)
    names.insert(to_string(static_cast<Error>(i)));
  CHECK(names == std::set<std::string_view>{"none", "not_connected", "timeout", "connection_lost",
                                            "overloaded", "loading", "read_only", "out_of_memory",
                                            "refused", "script_missing", "redirected", "other"});
  CHECK(to_string(Error::timeout) == "timeout");
  CHECK(to_string(Error::other) == "other");
}

}  // namespace weir::store
