#include "rls/check_messages.hpp"

#include <string>

#include "catch.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufWriter;
using namespace std::string_view_literals;

/// A CheckRequest with this AttributeContext.HttpRequest.
std::string with_http(std::string_view http) {
  std::string message;
  ProtobufWriter(message).message(1, [&](ProtobufWriter& attributes) {
    attributes.message(4, [&](ProtobufWriter& request) { request.bytes(2, http); });
  });
  return message;
}

/// A CheckRequest whose source has this Address.
std::string with_address(std::string_view address) {
  std::string message;
  ProtobufWriter(message).message(1, [&](ProtobufWriter& attributes) {
    attributes.message(1, [&](ProtobufWriter& peer) { peer.bytes(1, address); });
  });
  return message;
}

TEST_CASE("a check is read") {
  std::string http;
  ProtobufWriter to(http);
  to.text(1, "id").text(2, "GET").text(4, "/a?b=c").text(5, "example.com").text(6, "https");
  to.text(7, "q").text(8, "f").integer(9, -1).text(10, "HTTP/2").text(11, "text");
  to.bytes(12, "\xff").message(3, [](ProtobufWriter& entry) { entry.text(1, "n").text(2, "v"); });
  CheckRequest request;
  request.headers.resize(3);
  const std::string message = with_http(http);
  CHECK(read_protobuf(message, request) == ""sv);
  CHECK(request.id == "id");
  CHECK(request.method == "GET");
  CHECK(request.path == "/a?b=c");
  CHECK(request.host == "example.com");
  CHECK(request.scheme == "https");
  CHECK(request.query == "q");
  CHECK(request.fragment == "f");
  CHECK(request.size == -1);
  CHECK(request.protocol == "HTTP/2");
  CHECK(request.body == "text");
  CHECK(request.raw_body == "\xff");
  CHECK(request.headers == std::vector<http::Field>{{"n", "v"}});
  CHECK(request.source_address.empty());

  CHECK(read_protobuf("", request) == ""sv);
  CHECK((request.id.empty() && request.size == 0 && request.headers.empty()));
}

TEST_CASE("the source of a check is a socket, or has no address") {
  struct Row {
    std::string_view address;
    std::string_view source;
    std::uint32_t port;
  };
  const Row rows[] = {
      {""sv, "", 0},
      {"\x0a\x0e\x12\x09"
       "192.0.2.1\x18\xe7\x24"sv,
       "192.0.2.1", 4711},
      {"\x0a\x03\x12\x01"
       "a\x0a\x02\x18\x05"sv,
       "a", 5},  // in two parts
      {"\x0a\x05\x12\x01"
       "a\x18\x05\x0a\x03\x22\x01p"sv,
       "a", 0},  // a port with a name
      {"\x0a\x05\x12\x01"
       "a\x18\x05\x12\x03\x0a\x01/"sv,
       "", 0},  // a pipe in place of the socket
      {"\x0a\x05\x12\x01"
       "a\x18\x05\x1a\x00"sv,
       "", 0},
      {"\x12\x03\x0a\x01/\x0a\x03\x12\x01"
       "a"sv,
       "a", 0},
  };
  for (const Row& row : rows) {
    CheckRequest request;
    const std::string message = with_address(row.address);
    CHECK(read_protobuf(message, request) == ""sv);
    CHECK(request.source_address == row.source);
    CHECK(request.source_port == row.port);
  }
}

TEST_CASE("headers of a check are a map or a list") {
  struct Row {
    std::string_view http;
    std::vector<http::Field> headers;
  };
  const Row rows[] = {
      {"\x1a\x00"sv, {{"", ""}}},
      {"\x1a\x03\x0a\x01"
       "a\x1a\x06\x0a\x01"
       "b\x12\x01"
       "c\x1a\x06\x0a\x01"
       "a\x12\x01"
       "d"sv,
       {{"a", "d"}, {"b", "c"}}},  // the last one with a key
      {"\x6a\x10\x0a\x06\x0a\x01"
       "a\x1a\x01\xff\x0a\x06\x0a\x01"
       "a\x12\x01"
       "b"sv,
       {{"a", "\xff"}, {"a", "b"}}},
  };
  for (const Row& row : rows) {
    CheckRequest request;
    const std::string message = with_http(row.http);
    CHECK(read_protobuf(message, request) == ""sv);
    CHECK(request.headers == row.headers);
  }
}

TEST_CASE("a check that is not valid is refused with the reason") {
  struct Row {
    std::string message;
    std::string_view reason;
  };
  constexpr auto utf8 = "a string is not valid UTF-8"sv;
  constexpr auto varint = "the message ends within a varint"sv;
  std::string map;
  std::string list;
  for (std::size_t i = 0; i <= most_check_headers; ++i) {
    const auto header = [&](ProtobufWriter& to) { to.text(1, std::to_string(i)); };
    ProtobufWriter(map).message(3, header);
    ProtobufWriter(list).message(1, header);
  }
  std::string header_map;
  ProtobufWriter(header_map).bytes(13, list);
  const Row rows[] = {
      {"\x0a\x01\x0a", varint},
      {"\x0a\x01\x20", varint},
      {with_http("\x22\x01\xff"), utf8},
      {with_http("\x5a\x01\xff"), utf8},
      {with_http("\x1a\x03\x12\x01\xff"), utf8},
      {with_http("\x6a\x05\x0a\x03\x12\x01\xff"), utf8},
      {with_address("\x12\x01\x0a"), varint},
      {with_address("\x0a\x03\x22\x01\xff"), utf8},
      {with_http(map), "the request has more than 256 headers"},
      {with_http(header_map), "the request has more than 256 headers"},
  };
  for (const Row& row : rows) {
    CheckRequest request;
    CHECK(read_protobuf(row.message, request) == row.reason);
  }
}

TEST_CASE("a check is answered") {
  CheckResponse response;
  response.request_headers.add("a", "b");
  response.response_headers.add("c", "d");
  response.body = "not sent";
  std::string out;
  append_protobuf(out, response);
  CHECK(out ==
        "\x0a\x00\x1a\x18"
        "\x12\x0a\x0a\x06\x0a\x01"
        "a\x12\x01"
        "b\x18\x02"
        "\x32\x0a\x0a\x06\x0a\x01"
        "c\x12\x01"
        "d\x18\x02"sv);

  response.clear();
  response.status = grpc::Status::resource_exhausted;
  response.message = "m";
  response.request_headers.add("a", "not sent");
  response.response_headers.add("c", "d");
  response.body = "e";
  out.clear();
  append_protobuf(out, response);
  CHECK(out ==
        "\x0a\x05\x08\x08\x12\x01m\x12\x14"
        "\x0a\x03\x08\xad\x03"
        "\x12\x0a\x0a\x06\x0a\x01"
        "c\x12\x01"
        "d\x18\x02"
        "\x1a\x01"
        "e"sv);

  response.clear();
  out.clear();
  append_protobuf(out, response);
  CHECK(out == "\x0a\x00\x1a\x00"sv);
}

}  // namespace
}  // namespace weir::rls
