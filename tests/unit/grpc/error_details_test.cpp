#include "grpc/error_details.hpp"

#include "catch.hpp"

namespace weir::grpc {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

std::string retry_details(Status status, std::string_view message, Duration retry_after) {
  std::string out;
  append_retry_details(out, status, message, retry_after);
  return out;
}

TEST_CASE("details are a google.rpc.Status with one RetryInfo") {
  CHECK(retry_details(Status::resource_exhausted, "no", 3s) ==
        "\x08\x08\x12\x02no\x1a\x30\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02"
        "\x08\x03"sv);
  // 1.5 s: 500,000,000 ns.
  CHECK(retry_details(Status::unavailable, "", 1500ms) ==
        "\x08\x0e\x12\x00\x1a\x36\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x0a\x0a\x08"
        "\x08\x01\x10\x80\xca\xb5\xee\x01"sv);
  // A delay of zero is present and empty.
  CHECK(retry_details(Status::unavailable, "", 0s).ends_with("\x12\x02\x0a\x00"sv));
}

TEST_CASE("a binary field is base64 without padding") {
  struct Row {
    std::string_view bytes;
    std::string_view text;
  };
  // RFC 4648 section 10, without "=".
  const Row row = GENERATE(values<Row>({
      {"", ""},
      {"f", "Zg"},
      {"fo", "Zm8"},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg"},
      {"fooba", "Zm9vYmE"},
      {"foobar", "Zm9vYmFy"},
      {"\xfb\xff\xfe"sv, "+//+"},
      {"\x00\x00\x00"sv, "AAAA"},
  }));
  std::string out;
  {
    Appender to(out);
    append_binary(to, row.bytes);
  }
  CHECK(out == row.text);
}

}  // namespace
}  // namespace weir::grpc
