// The code that every call runs allocates nothing once its buffers have grown.
#include <string>

#include "catch.hpp"
#include "rls/protobuf_messages.hpp"
#include "unit/http/allocations.hpp"

namespace weir::rls {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

TEST_CASE("a request is read and answered without an allocation") {
  const std::string value(40, 'v');
  std::string message =
      "\x0a\x03"
      "api\x12\x35\x0a\x2f\x0a\x03key\x12\x28" +
      value + "\x1a\x02\x08\x03";
  Request request;
  Response response;
  std::string out;
  const auto call = [&] {
    if (!read_protobuf(message, request).empty()) std::abort();
    response.clear();
    response.overall_code = Code::ok;
    response.statuses.push_back(
        {.current_limit = CurrentLimit{.requests_per_unit = 10, .name = value},
         .limit_remaining = 9,
         .duration_until_reset = 1500ms});
    response.response_headers_to_add.add("x-ratelimit-remaining", "9");
    out.clear();
    append_protobuf(out, response);
  };
  call();
  CHECK(request.entries.at(0).value == value);
  CHECK(allocations_in(call) == 0);
}

}  // namespace
}  // namespace weir::rls
