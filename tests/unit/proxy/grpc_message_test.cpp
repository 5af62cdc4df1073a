#include "proxy/grpc_message.hpp"

#include <string>

#include "catch.hpp"

namespace weir::proxy {
namespace {

using namespace std::string_view_literals;

TEST_CASE("a message that is written can be read") {
  for (const std::size_t size : {0U, 1U, 255U, 256U, 70'000U}) {
    std::string body = "of another message";
    begin_grpc_message(body);
    body.append(size, 'm');
    end_grpc_message(body);
    REQUIRE(body.size() == grpc_prefix_size + size);
    std::string_view message = "before";
    CHECK_FALSE(read_grpc_message(body, size, message));
    CHECK(message == std::string(size, 'm'));
  }
  std::string body;
  begin_grpc_message(body);
  body.append(0x010203, 'm');
  end_grpc_message(body);
  CHECK(body.substr(0, grpc_prefix_size) == "\x00\x00\x01\x02\x03"sv);
}

TEST_CASE("a body that is not one plain message is refused") {
  struct Row {
    std::string_view body;
    grpc::Status status;
    std::string_view reason;
  };
  const Row rows[] = {
      // Shorter than its prefix.
      {"", grpc::Status::invalid_argument, "the call has no message"},
      {"\x00\x00\x00\x00"sv, grpc::Status::invalid_argument, "the call has no message"},
      // Compressed, or with an unknown flag.
      {"\x01\x00\x00\x00\x01m"sv, grpc::Status::unimplemented,
       "compressed messages are not supported"},
      {"\x80\x00\x00\x00\x01m"sv, grpc::Status::unimplemented,
       "compressed messages are not supported"},
      // Less, more, and two messages; the last length is negative for 32 bits.
      {"\x00\x00\x00\x00\x02m"sv, grpc::Status::invalid_argument,
       "the call has not exactly one message"},
      {"\x00\x00\x00\x00\x00m"sv, grpc::Status::invalid_argument,
       "the call has not exactly one message"},
      {"\x00\x00\x00\x00\x01m\x00\x00\x00\x00\x01m"sv, grpc::Status::invalid_argument,
       "the call has not exactly one message"},
      {"\x00\xff\xff\xff\xffm"sv, grpc::Status::invalid_argument,
       "the call has not exactly one message"},
      // Too long, whatever it is.
      {"\x01\x00\x00\x00\x0d"
       "13 characters"sv,
       grpc::Status::resource_exhausted, "the message is too long"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    std::string_view message = "before";
    const auto fault = read_grpc_message(row.body, 12, message);
    REQUIRE(fault);
    CHECK(fault->status == row.status);
    CHECK(fault->reason == row.reason);
    CHECK(message == "before");
  }
}

}  // namespace
}  // namespace weir::proxy
