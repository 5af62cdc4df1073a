// Requests that are malformed (RFC 9113 section 8): their stream is reset, no exchange begins, and
// the connection goes on.
#include "http2/session.hpp"
#include "unit/http2/reaction.hpp"

namespace weir::http2 {
namespace {

using namespace test;

struct FieldRow {
  const char* name;
  const char* value;
};

std::string block_of(const std::vector<FieldRow>& fields) {
  std::string block;
  for (const FieldRow& field : fields)
    block += literal(field.name, field.value);
  return block;
}

std::string head_of(const std::vector<FieldRow>& fields, int flags = end_stream) {
  return frame(NGHTTP2_HEADERS, end_headers | flags, 1, block_of(fields));
}

constexpr const char* malformed = "stream PROTOCOL_ERROR";

TEST_CASE("pseudo-header fields of a request") {
  struct Row {
    const char* expected;
    std::vector<FieldRow> fields;
  };
  const FieldRow method{":method", "GET"}, scheme{":scheme", "http"}, path{":path", "/"},
      authority{":authority", "a.example"};
  const Row rows[] = {
      {"none", {method, scheme, path, authority}},
      {"none", {authority, path, scheme, method}},
      {"none", {method, scheme, path, {"host", "a.example"}}},
      {"none", {{":method", "OPTIONS"}, scheme, {":path", "*"}, authority}},
      {"none", {{":method", "CONNECT"}, authority}},
      {"none", {{":method", "CONNECT"}, {":protocol", "websocket"}, scheme, path, authority}},
      // Absent.
      {malformed, {scheme, path, authority}},
      {malformed, {method, path, authority}},
      {malformed, {method, scheme, authority}},
      {malformed, {method, scheme, path}},
      {malformed, {{"x", "1"}}},
      {malformed, {}},
      // Empty.
      {malformed, {method, scheme, {":path", ""}, authority}},
      {malformed, {{":method", ""}, scheme, path, authority}},
      {malformed, {method, {":scheme", ""}, path, authority}},
      // Repeated.
      {malformed, {method, method, scheme, path, authority}},
      {malformed, {method, scheme, scheme, path, authority}},
      {malformed, {method, scheme, path, path, authority}},
      {malformed, {method, scheme, path, authority, authority}},
      // After other fields.
      {malformed, {{"x", "1"}, method, scheme, path, authority}},
      {malformed, {method, scheme, path, {"x", "1"}, authority}},
      // Unknown, of a response, or without its meaning.
      {malformed, {method, scheme, path, authority, {":status", "200"}}},
      {malformed, {method, scheme, path, authority, {":other", "1"}}},
      {malformed, {method, scheme, path, authority, {":", "1"}}},
      {malformed, {method, scheme, path, authority, {":protocol", "websocket"}}},
      {malformed, {{":method", "CONNECT"}, scheme, path, authority}},
      {malformed, {{":method", "CONNECT"}, {":protocol", "websocket"}, authority}},
      {malformed, {{":method", "CONNECT"}, {":protocol", "websocket"}, scheme, path}},
      // Not of the form that their scheme requires.
      {malformed, {method, scheme, {":path", "a"}, authority}},
      {malformed, {method, scheme, {":path", "*"}, authority}},
      {malformed, {method, scheme, {":path", "http://a.example/"}, authority}},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    check_reaction(rows[i].expected, {}, head_of(rows[i].fields));
  }
}

TEST_CASE("fields of a request") {
  struct Row {
    const char* expected;
    std::string name;
    std::string value;
  };
  const Row rows[] = {
      {"none", "x", ""},
      {"none", "x", "a b\tc"},
      {"none", "x", "\x80\xff"},
      {"none", "te", "trailers"},
      {"none", "x_y.z!#$%&'*+-^`|~", "1"},
      // Names.
      {malformed, "", "1"},
      {malformed, "X", "1"},
      {malformed, "xY", "1"},
      {malformed, "x y", "1"},
      {malformed, "x:y", "1"},
      {malformed, "x\x7f", "1"},
      {malformed, "x\x80", "1"},
      {malformed, std::string("x\0", 2), "1"},
      // Values.
      {malformed, "x", std::string("a\0b", 3)},
      {malformed, "x", "a\rb"},
      {malformed, "x", "a\nb"},
      {malformed, "x", " a"},
      {malformed, "x", "a "},
      {malformed, "x", "\ta"},
      {malformed, "x", "a\t"},
      // Of a connection of HTTP/1.1.
      {malformed, "connection", "close"},
      {malformed, "connection", "x"},
      {malformed, "proxy-connection", "close"},
      {malformed, "keep-alive", "timeout=5"},
      {malformed, "transfer-encoding", "chunked"},
      {malformed, "transfer-encoding", "identity"},
      {malformed, "upgrade", "websocket"},
      {malformed, "te", "gzip"},
      {malformed, "te", "trailers, gzip"},
      {malformed, "te", "trailers;q=0.5"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name, row.value);
    check_reaction(row.expected, {}, request(1, literal(row.name, row.value)));
  }
}

TEST_CASE("the length of a body") {
  const auto begun = [](const char* length) {
    return request(1, literal("content-length", length), 0);
  };
  const auto data = [](const char* bytes, int flags = 0) {
    return frame(NGHTTP2_DATA, flags, 1, bytes);
  };
  const std::string trailers =
      frame(NGHTTP2_HEADERS, end_headers | end_stream, 1, literal("x-sum", "7"));
  struct Row {
    const char* expected;
    std::string bytes;
  };
  const Row rows[] = {
      {"none", begun("3") + data("abc", end_stream)},
      {"none", begun("3") + data("ab") + data("c") + data("", end_stream)},
      {"none", begun("3") + data("abc") + trailers},
      {"none", begun("0") + data("", end_stream)},
      {"none", request(1, literal("content-length", "0"))},
      {malformed, request(1, literal("content-length", "3"))},
      {malformed, begun("3") + data("ab", end_stream)},
      {malformed, begun("3") + data("ab") + data("cd")},
      {malformed, begun("3") + data("abcd", end_stream)},
      {malformed, begun("3") + data("ab") + trailers},
      {malformed, begun("3") + trailers},
      {malformed, begun("0") + data("a")},
      {malformed, begun("")},
      {malformed, begun("-1")},
      {malformed, begun("+3")},
      {malformed, begun("3, 3")},
      {malformed, begun("0x3")},
      {malformed, begun("99999999999999999999")},
      {malformed, request(1, literal("content-length", "3") + literal("content-length", "3"), 0)},
      {malformed, request(1, literal("content-length", "3") + literal("content-length", "4"), 0)},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    check_reaction(rows[i].expected, {}, rows[i].bytes);
  }
}

TEST_CASE("trailers of a request") {
  struct Row {
    const char* expected;
    std::string block;
    int flags = end_stream;
  };
  const Row rows[] = {
      {"none", literal("x-sum", "7")},
      {"none", {}},
      {malformed, literal("x-sum", "7"), 0},
      {malformed, literal(":path", "/")},
      {malformed, literal(":status", "200")},
      {malformed, literal("X-Sum", "7")},
      {malformed, literal("connection", "close")},
      {malformed, literal("x", "a\nb")},
      {malformed, request_block()},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    check_reaction(rows[i].expected, request(1, {}, 0),
                   frame(NGHTTP2_HEADERS, end_headers | rows[i].flags, 1, rows[i].block));
  }
}

}  // namespace
}  // namespace weir::http2
