#include "proxy/grpc_call.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

http::RequestView request(std::vector<http::FieldView>& fields, std::uint8_t version,
                          std::string_view type) {
  fields = {{.id = http::FieldId::content_type, .name = "content-type", .value = type}};
  http::RequestView view;
  view.version_major = version;
  view.fields = fields;
  return view;
}

TEST_CASE("a call is a request of HTTP/2 with the content type of gRPC") {
  std::vector<http::FieldView> fields;
  CHECK(is_grpc_call(request(fields, 2, "application/grpc+proto")));
  CHECK_FALSE(is_grpc_call(request(fields, 1, "application/grpc+proto")));
  CHECK_FALSE(is_grpc_call(request(fields, 2, "application/json")));
  http::RequestView without_fields;
  without_fields.version_major = 2;
  CHECK_FALSE(is_grpc_call(without_fields));
}

TEST_CASE("a question of another proxy is answered with HTTP statuses") {
  http::ReceivedRequest call;
  options::Route route;
  CHECK_FALSE(is_answered_as_call(call, &route));
  call.is_grpc_call = true;
  CHECK(is_answered_as_call(call, nullptr));
  CHECK(is_answered_as_call(call, &route));
  route.decide = true;
  CHECK_FALSE(is_answered_as_call(call, &route));
}

TEST_CASE("a call has a deadline if its grpc-timeout is valid") {
  constexpr Instant begin = instant_from_us(1'000'000);
  std::vector<http::FieldView> fields;
  http::ReceivedRequest call;
  call.view = request(fields, 2, "application/grpc");
  call.is_grpc_call = true;
  CHECK_FALSE(deadline_of(call, begin));
  fields.push_back({.id = http::FieldId::unknown, .name = "grpc-timeout", .value = "250m"});
  call.view.fields = fields;
  CHECK(deadline_of(call, begin) == begin + 250ms);
  CHECK_FALSE(is_late(call, begin, begin + 250ms - 1us));
  CHECK(is_late(call, begin, begin + 250ms));
  call.is_grpc_call = false;
  CHECK_FALSE(deadline_of(call, begin));
  call.is_grpc_call = true;
  fields[1].value = "250";
  CHECK_FALSE(deadline_of(call, begin));
}

}  // namespace
}  // namespace weir::proxy
