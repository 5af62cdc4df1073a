#include "http/forwarding.hpp"

#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

TEST_CASE("H7: a hop is found in Via by its name") {
  const auto passed = [](std::initializer_list<NameValue> lines) {
    return has_passed(fields_of(lines), "weir-1");
  };
  CHECK(passed({{"Via", "1.1 weir-1"}}));
  CHECK(passed({{"via", "1.0 a, HTTP/1.1\t WEIR-1 (comment) , 1.1 b"}}));
  CHECK(passed({{"Via", "1.1 a"}, {"Via", "1.1 weir-1"}}));
  CHECK_FALSE(passed({}));
  CHECK_FALSE(passed({{"Via", "1.1 weir, 1.1 weir-11, weir-1, 1.1 a (weir-1)"}}));
  CHECK_FALSE(passed({{"X-Via", "1.1 weir-1"}}));
}

TEST_CASE("H18: Max-Forwards is one number, for OPTIONS") {
  const auto left = [](std::initializer_list<NameValue> lines, const char* method = "OPTIONS") {
    const RequestOf request{lines, method};
    const auto found = max_forwards(request.view);
    if (!found) return found.error().status;
    return found->has_value() ? static_cast<int>(**found) : -1;
  };
  CHECK(left({}) == -1);
  CHECK(left({{"Max-Forwards", "0"}}) == 0);
  CHECK(left({{"max-forwards", "012"}}) == 12);
  CHECK(left({{"Max-Forwards", "x"}}, "GET") == -1);
  for (const char* value : {"", "-1", "+1", "1 1", "1,1", "0x1", "99999999999999999999x"}) {
    INFO(value);
    CHECK(left({{"Max-Forwards", value}}) == 400);
  }
  CHECK(left({{"Max-Forwards", "1"}, {"Max-Forwards", "1"}}) == 400);
  const RequestOf many{{{"Max-Forwards", "99999999999999999999"}}, "OPTIONS"};
  CHECK(max_forwards(many.view).value() == std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace weir::http
