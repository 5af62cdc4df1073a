#include "http/framing.hpp"

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

using FramingKind = Framing::Kind;

int request_status(std::initializer_list<NameValue> fields, std::uint8_t version_minor = 1) {
  const RequestOf request{fields, "POST", version_minor};
  const auto framing = request_framing(request.view);
  return framing ? 0 : framing.error().status;
}

Framing framing_of(std::initializer_list<NameValue> fields, std::uint8_t version_minor = 1) {
  const RequestOf request{fields, "POST", version_minor};
  return request_framing(request.view).value();
}

TEST_CASE("B13: framing depends on the head, whatever the method") {
  for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "POST"}) {
    const RequestOf request{{{"Content-Length", "5"}}, method};
    CHECK(request_framing(request.view).value() == Framing{FramingKind::length, 5});
  }
  CHECK(framing_of({}) == Framing{});
  CHECK(framing_of({}, 0) == Framing{});
}

TEST_CASE("B1: Transfer-Encoding with Content-Length is refused") {
  CHECK(request_status({{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}) == 400);
  CHECK(request_status({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}) == 400);
  CHECK(request_status({{"Content-Length", "5"}, {"Transfer-Encoding", "xchunked"}}) == 400);
  CHECK(request_status({{"Content-Length", "5"}, {"Transfer-Encoding", ""}}) == 400);
}

TEST_CASE("B2: the last coding is chunked, and no other is understood") {
  CHECK(framing_of({{"Transfer-Encoding", "chunked"}}).kind == FramingKind::chunked);
  CHECK(framing_of({{"transfer-encoding", "CHUNKED"}}).kind == FramingKind::chunked);
  CHECK(framing_of({{"Transfer-Encoding", ", chunked ,"}}).kind == FramingKind::chunked);
  CHECK(request_status({{"Transfer-Encoding", "gzip, chunked"}}) == 501);
  CHECK(request_status({{"Transfer-Encoding", "gzip"}, {"Transfer-Encoding", "chunked"}}) == 501);
  for (const char* codings :
       {"gzip", "identity", "chunked, gzip", "chunked;x=y", "", ",", "xchunked", "chunked x",
        "\"chunked\"", "chunked\x0b", "chunked, identity"}) {
    INFO(codings);
    CHECK(request_status({{"Transfer-Encoding", codings}}) == 400);
  }
  CHECK(request_status({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "identity"}}) ==
        400);
  for (const char* nothing : {"", ","}) {
    CHECK(request_status({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", nothing}}) ==
          400);
    CHECK(request_status({{"Transfer-Encoding", nothing}, {"Transfer-Encoding", "chunked"}}) ==
          400);
  }
}

TEST_CASE("B3: Transfer-Encoding in HTTP/1.0 is refused") {
  CHECK(request_status({{"Transfer-Encoding", "chunked"}}, 0) == 400);
}

TEST_CASE("B4: chunked twice is refused") {
  CHECK(request_status({{"Transfer-Encoding", "chunked, chunked"}}) == 400);
  CHECK(request_status({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}) ==
        400);
}

TEST_CASE("B5: Content-Length is one plain number") {
  CHECK(framing_of({{"Content-Length", "0"}}) == Framing{FramingKind::length, 0});
  CHECK(framing_of({{"content-length", "005"}}) == Framing{FramingKind::length, 5});
  for (const char* length : {"", "abc", "+5", "-1", "-0", "0x5", "0o5", "5,5", "5, 10", "1 0",
                             "1_0", "5.0", "5a", "\xb2"}) {
    INFO(length);
    CHECK(request_status({{"Content-Length", length}}) == 400);
  }
  CHECK(request_status({{"Content-Length", "5"}, {"Content-Length", "5"}}) == 400);
  CHECK(request_status({{"Content-Length", "5"}, {"Content-Length", "6"}}) == 400);
}

TEST_CASE("B6: Content-Length does not wrap") {
  CHECK(framing_of({{"Content-Length", "9223372036854775807"}}).length == 9223372036854775807U);
  for (const char* length : {"9223372036854775808", "18446744073709551616", "18446744073709551621",
                             "99999999999999999999", "340282366920938463463374607431768211461"}) {
    INFO(length);
    CHECK(request_status({{"Content-Length", length}}) == 400);
  }
}

TEST_CASE("F7: names spelt with an underscore delimit nothing") {
  CHECK(framing_of({{"Content_Length", "5"}}) == Framing{});
  CHECK(framing_of({{"TRANSFER_ENCODING", "chunked"}}) == Framing{});
  CHECK(framing_of({{"Content-Length", "5"}, {"Content_Length", "6"}}) ==
        Framing{FramingKind::length, 5});
}

struct ResponseRow {
  const char* method;
  int status;
  std::uint8_t version_minor;
  std::vector<NameValue> fields;
  Framing framing;
};

std::vector<FieldView> fields_in(const std::vector<NameValue>& lines) {
  std::vector<FieldView> fields;
  for (const NameValue& line : lines)
    fields.push_back(fields_of({line})[0]);
  return fields;
}

TEST_CASE("P1 and P5: where a response ends") {
  const NameValue five{"Content-Length", "5"};
  const NameValue chunked{"Transfer-Encoding", "chunked"};
  const ResponseRow rows[] = {
      {"GET", 200, 1, {five}, {FramingKind::length, 5}},
      {"GET", 200, 0, {five}, {FramingKind::length, 5}},
      {"GET", 200, 1, {chunked}, {FramingKind::chunked, 0}},
      {"GET", 200, 1, {}, {FramingKind::until_close, 0}},
      {"GET", 500, 0, {}, {FramingKind::until_close, 0}},
      // no body, whatever is declared
      {"HEAD", 200, 1, {five}, {}},
      {"HEAD", 200, 1, {chunked}, {}},
      {"GET", 304, 1, {five}, {}},
      {"GET", 204, 1, {five, chunked}, {}},
      {"GET", 100, 1, {five}, {}},
      {"GET", 103, 1, {}, {}},
      {"GET", 101, 1, {}, {}},
  };
  for (const ResponseRow& row : rows) {
    INFO(row.method << ' ' << row.status);
    CHECK(response_framing(row.method, row.status, row.version_minor, fields_in(row.fields))
              .value() == row.framing);
  }
}

TEST_CASE("P2 and P3: an ambiguous response is refused with 502") {
  const NameValue chunked{"Transfer-Encoding", "chunked"};
  const ResponseRow rows[] = {
      {"GET", 200, 1, {{"Content-Length", "x"}}, {}},
      {"GET", 200, 1, {{"Content-Length", "5"}, {"Content-Length", "5"}}, {}},
      {"GET", 200, 1, {{"Content-Length", "5"}, chunked}, {}},
      {"GET", 200, 0, {chunked}, {}},
      {"GET", 200, 1, {{"Transfer-Encoding", "gzip"}}, {}},
      {"GET", 200, 1, {{"Transfer-Encoding", "gzip, chunked"}}, {}},
      {"GET", 200, 1, {{"Transfer-Encoding", "chunked, chunked"}}, {}},
      {"GET", 200, 1, {{"Transfer-Encoding", "chunked, identity"}}, {}},
      {"GET", 200, 1, {{"Content-Length", ""}}, {}},
      {"GET", 200, 1, {{"Content-Length", "+5"}}, {}},
      {"GET", 200, 1, {{"Content-Length", "5, 5"}}, {}},
      {"GET", 200, 1, {{"Content-Length", "9223372036854775808"}}, {}},
      {"HEAD", 200, 1, {{"Content-Length", "-5"}}, {}},
      {"GET", 304, 1, {{"Content-Length", "5"}, {"Content-Length", "6"}}, {}},
  };
  for (const ResponseRow& row : rows) {
    const auto framing =
        response_framing(row.method, row.status, row.version_minor, fields_in(row.fields));
    REQUIRE_FALSE(framing.has_value());
    CHECK(framing.error().status == 502);
    CHECK_FALSE(framing.error().detail.empty());
  }
}

}  // namespace
}  // namespace weir::http
