#include <set>
#include <string_view>

#include "catch.hpp"
#include "http/problem.hpp"

namespace weir::http {
namespace {

TEST_CASE("reason phrases") {
  CHECK(reason_phrase(100) == "Continue");
  CHECK(reason_phrase(101) == "Switching Protocols");
  CHECK(reason_phrase(200) == "OK");
  CHECK(reason_phrase(429) == "Too Many Requests");
  CHECK(reason_phrase(511) == "Network Authentication Required");
  for (const int status : {0, 99, 104, 299, 418, 510, 512, 600, -1})
    CHECK(reason_phrase(status) == "Unknown");
}

TEST_CASE("no two statuses have the same reason phrase") {
  std::set<std::string_view> seen;
  for (int status = 100; status < 600; ++status) {
    const std::string_view phrase = reason_phrase(status);
    if (phrase == "Unknown") continue;
    CAPTURE(status);
    CHECK(seen.insert(phrase).second);
  }
  CHECK(seen.size() == 60);
}

}  // namespace
}  // namespace weir::http
