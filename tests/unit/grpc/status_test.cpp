#include "grpc/status.hpp"

#include <string_view>

#include "catch.hpp"

namespace weir::grpc {
namespace {

TEST_CASE("each status has the name of the specification") {
  CHECK(name_of(Status::ok) == "OK");
  CHECK(name_of(Status::deadline_exceeded) == "DEADLINE_EXCEEDED");
  CHECK(name_of(Status::resource_exhausted) == "RESOURCE_EXHAUSTED");
  CHECK(name_of(Status::unavailable) == "UNAVAILABLE");
  CHECK(name_of(Status::unauthenticated) == "UNAUTHENTICATED");
  CHECK(code_of(Status::unauthenticated) == 16);
}

TEST_CASE("an HTTP status is mapped as clients map it") {
  struct Row {
    int http;
    Status status;
  };
  const Row row = GENERATE(values<Row>({
      // The mapping of gRPC.
      {400, Status::internal},
      {401, Status::unauthenticated},
      {403, Status::permission_denied},
      {404, Status::unimplemented},
      {429, Status::unavailable},
      {502, Status::unavailable},
      {503, Status::unavailable},
      {504, Status::unavailable},
      // All others.
      {200, Status::unknown},
      {302, Status::unknown},
      {408, Status::unknown},
      {413, Status::unknown},
      {500, Status::unknown},
      {508, Status::unknown},
  }));
  CAPTURE(row.http);
  CHECK(status_of_http(row.http) == row.status);
}

TEST_CASE("a value of grpc-status is a decimal number up to 16") {
  struct Row {
    std::string_view text;
    Status status;
  };
  const Row row = GENERATE(values<Row>({
      {"0", Status::ok},
      {"8", Status::resource_exhausted},
      {"16", Status::unauthenticated},
      {"08", Status::resource_exhausted},
      // Not a status.
      {"17", Status::unknown},
      {"99999999999999999999999", Status::unknown},
      {"", Status::unknown},
      {"-1", Status::unknown},
      {"8 ", Status::unknown},
      {"OK", Status::unknown},
  }));
  CAPTURE(row.text);
  CHECK(parse_status(row.text) == row.status);
}

}  // namespace
}  // namespace weir::grpc
