// The code that every call runs allocates nothing once its buffers have grown.
#include <string>

#include "catch.hpp"
#include "rls/json_messages.hpp"
#include "rls/protobuf_messages.hpp"
#include "unit/http/allocations.hpp"
#include "unit/rls/call_fixture.hpp"

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

TEST_CASE("hits of a name with values that is counted already are counted without an allocation") {
  test::Service service;
  service.options.reference_metrics = true;
  service.limit("one", 1'000).detailed_metric = true;
  service.ask({{{{"one", "a value that does not fit into a short string"}}}});
  const auto count = [&] { service.call.count_hits(service.names); };
  count();
  CHECK(allocations_in(count) == 0);
}

TEST_CASE("the dynamic metadata of an answer is written without an allocation") {
  test::Service service;
  service.limit("one", 1).metadata =
      R"({"tier":{"name":"gold"},"owner":"a team with a long name"})";
  service.limit("two", 1'000).metadata = R"({"tier":{"burst":5},"also":[null,true,1.5]})";
  service.limit("three", 1'000);
  const std::vector<test::Asked> admitted = {{{{"two", "1"}}, 0}, {{{"three", "1"}}, 0}};
  const std::vector<test::Asked> merged = {{{{"one", "2"}}, 0}, {{{"two", "1"}}, 0}};
  const std::vector<test::Asked> denied = {{{{"one", "1"}}}, {{{"two", "1"}}}};
  service.ask(denied);
  for (const auto& asked : {admitted, merged, denied}) {
    Response& response = service.response;
    std::string out;
    std::string json;
    const auto answer = [&] {
      response.clear();
      service.call.answer(response, service.now);
      out.clear();
      append_protobuf(out, response);
      json.clear();
      append_json(json, response);
    };
    service.ask(asked);
    answer();
    CHECK(response.dynamic_metadata.empty() == false);
    CHECK(allocations_in(answer) == 0);
  }
}

}  // namespace
}  // namespace weir::rls
