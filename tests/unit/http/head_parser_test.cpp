#include "http/head_parser.hpp"

#include <string>

#include "catch.hpp"

using namespace weir::http;
using weir::http::FieldView;

namespace {

HeadEnd::State state_of(std::string_view data) {
  std::size_t scanned = 0;
  return find_head_end(data, scanned).state;
}

bool request_is_valid(const std::string& head) {
  std::vector<FieldView> fields;
  return parse_request_head(head, fields).has_value();
}

}  // namespace

TEST_CASE("the end of a head is found however it arrives") {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\nbody";
  for (std::size_t step = 1; step <= head.size(); ++step) {
    CAPTURE(step);
    std::size_t scanned = 0;
    HeadEnd end;
    std::size_t arrived = 0;
    while (end.state == HeadEnd::State::incomplete && arrived < head.size()) {
      arrived = std::min(head.size(), arrived + step);
      end = find_head_end(std::string_view(head).substr(0, arrived), scanned);
    }
    CHECK(end.state == HeadEnd::State::complete);
    CHECK(end.size == head.size() - 4);
  }
}

TEST_CASE("a line that ends in LF alone is malformed at once") {
  CHECK(state_of("GET / HTTP/1.1\n") == HeadEnd::State::malformed);
  CHECK(state_of("GET / HTTP/1.1\r\nHost: a\n") == HeadEnd::State::malformed);
  CHECK(state_of("\n") == HeadEnd::State::malformed);
  CHECK(state_of("GET / HTTP/1.1\r\nHost: a\r\n") == HeadEnd::State::incomplete);
}

TEST_CASE("a request head is views into its text") {
  const std::string head =
      "PATCH /a?b HTTP/1.0\r\nHost:  a.example \r\nX-Own: \r\ncookie: c=d\r\n\r\n";
  std::vector<FieldView> fields;
  const auto line = parse_request_head(head, fields);
  REQUIRE(line.has_value());
  CHECK(line->method == "PATCH");
  CHECK(line->target == "/a?b");
  CHECK(line->version == 10);
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].id == weir::http::FieldId::host);
  CHECK(fields[0].value == "a.example");
  CHECK(fields[1].name == "X-Own");
  CHECK(fields[1].value.empty());
  CHECK(fields[2].name == "cookie");
  CHECK(fields[2].value.data() >= head.data());
  CHECK(fields[2].value.data() < head.data() + head.size());
}

TEST_CASE("heads that two parsers could read in two ways are refused") {
  const std::string host = "Host: a\r\n";
  const char* const heads[] = {
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",  // obs-fold
      "GET / HTTP/1.1\r\nHost: a\r\nX:\r\n b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\t\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n \r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",  // space before the colon
      "GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n",    // empty name
      "GET / HTTP/1.1\r\nHost: a\r\nX[: a\r\n\r\n",  // not a token
      "GET / HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",  // white space before the first field
      "GET / HTTP/1.1\r\n\tHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\n\v\r\nHost: a\r\n\r\n",
      "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\t\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1 x\r\nHost: a\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET\r\nHost: a\r\n\r\n",
      "/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "G\x80T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",  // two spaces
      "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
      "GET /\r\nHost: a\r\n\r\n",  // HTTP/0.9
      "GET / http/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.11\r\nHost: a\r\n\r\n",
      "GET / HTTP/01.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1,1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1. 1\r\nHost: a\r\n\r\n",
      "GET / HTTP /1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1.\r\nHost: a\r\n\r\n",
      "GET / HTTP/-1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/10.1\r\nHost: a\r\n\r\n",
      "GET / HTTPS/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
      "G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",  // bare CR
  };
  for (const std::string head : heads) {
    CAPTURE(head);
    CHECK_FALSE(request_is_valid(head));
  }
  CHECK(request_is_valid("GET / HTTP/1.1\r\n" + host + "\r\n"));
  CHECK_FALSE(
      request_is_valid(std::string("GET / HTTP/1.1\r\nHost: a\r\nX: a") + '\0' + "b\r\n\r\n"));
}

TEST_CASE("more fields than a head may have are refused") {
  std::string head = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < most_fields; ++i)
    head += "X: y\r\n";
  CHECK(request_is_valid(head + "\r\n"));
  CHECK_FALSE(request_is_valid(head + "X: y\r\n\r\n"));
}

TEST_CASE("R10: a head of another version is not the same as a malformed one") {
  const auto status = [](const std::string& head) {
    std::vector<FieldView> fields;
    REQUIRE_FALSE(parse_request_head(head, fields).has_value());
    return why_refused(head, fields).status;
  };
  for (const char* version : {"2.0", "1.2", "0.9"}) {
    CHECK(status(std::string("GET / HTTP/") + version + "\r\nHost: a\r\n\r\n") == 505);
  }
  for (const char* line : {"GET / HTTP/1.", "GET / HTTP/11", "GET / http/2.0", "GET / HTTP/2.x",
                           "GET / HTTP/1.01", "HTTP/2.0", "x"}) {
    CHECK(status(std::string(line) + "\r\nHost: a\r\n\r\n") == 400);
  }
  CHECK(status("GET / HTTP/1.1\r\nX : y\r\n\r\n") == 400);
}

TEST_CASE("R4: the part of a head that is too large names the answer") {
  struct Row {
    const char* begin;
    HeadFault fault;
  };
  for (const Row& row :
       {Row{"MMMM", HeadFault::long_method}, Row{"GET /aaaa", HeadFault::long_target},
        Row{"GET ", HeadFault::long_target}, Row{"GET / HTTP", HeadFault::malformed},
        Row{"GET  ", HeadFault::malformed}, Row{"{}{}", HeadFault::malformed},
        Row{" GET", HeadFault::malformed}, Row{"MM\x01MM", HeadFault::malformed},
        Row{"", HeadFault::long_method}, Row{"GET / HTTP/1.1\r\nX: aaaa", HeadFault::too_large},
        Row{"{\r\n", HeadFault::too_large}}) {
    CAPTURE(row.begin);
    CHECK(fault_of_large_head(row.begin) == row.fault);
  }
}

TEST_CASE("F1: white space before a colon is moved behind it") {
  const auto mended = [](std::string head) {
    const bool moved = move_space_behind_colons(head);
    return moved ? head : "as it was";
  };
  CHECK(mended("HTTP/1.1 200 a : b\r\nX : y\r\nY\t :z : \r\nZ:  1\r\n\r\n") ==
        "HTTP/1.1 200 a : b\r\nX:  y\r\nY: \tz : \r\nZ:  1\r\n\r\n");
  for (const char* head : {"HTTP/1.1 200 a : b\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a : b\r\n\r\n",
                           "HTTP/1.1 200 OK\r\n : x\r\n\r\n", "HTTP/1.1 200 OK\r\nX \r\n\r\n"}) {
    CHECK(mended(head) == "as it was");
  }
}

TEST_CASE("a status line may have no reason") {
  std::vector<FieldView> fields;
  const auto line = parse_response_head("HTTP/1.1 204 \r\nServer: s\r\n\r\n", fields);
  REQUIRE(line.has_value());
  CHECK(line->status == 204);
  CHECK(line->reason.empty());
  // Some servers also omit the space.
  const auto bare = parse_response_head("HTTP/1.1 200\r\nServer: s\r\n\r\n", fields);
  REQUIRE(bare.has_value());
  CHECK(bare->status == 200);
  CHECK(bare->reason.empty());
  CHECK(fields.size() == 1);
  CHECK_FALSE(parse_response_head("HTTP/1.1 20\r\n\r\n", fields));
  CHECK_FALSE(parse_response_head("HTTP/1.1 2000\r\n\r\n", fields));
  CHECK_FALSE(parse_response_head("HTTP/1.1 20 OK\r\n\r\n", fields));
  CHECK_FALSE(parse_response_head("garbage\r\n\r\n", fields));
}

TEST_CASE("every control character ends a value wherever it stands, HTAB and obs-text do not") {
  for (std::size_t before = 0; before < 100; ++before) {
    for (int byte = 0; byte < 256; ++byte) {
      CAPTURE(before, byte);
      const auto c = static_cast<char>(byte);
      const std::string value = std::string(before, 'v') + c + std::string(12, 'w');
      std::vector<FieldView> fields;
      const std::string head = "GET / HTTP/1.1\r\nX:" + value + "\r\n\r\n";
      const auto line = parse_request_head(head, fields);
      const bool is_allowed = (byte >= 0x20 && byte != 0x7f) || c == '\t';
      REQUIRE(line.has_value() == is_allowed);
      if (!is_allowed) continue;
      REQUIRE(fields.size() == 1);
      const bool is_space = c == ' ' || c == '\t';
      CHECK(fields[0].value == (before == 0 && is_space ? value.substr(1) : value));
    }
  }
}

TEST_CASE("F4: every byte that no token has ends a name wherever it stands") {
  for (std::size_t before = 0; before < 20; ++before) {
    for (int byte = 0; byte < 256; ++byte) {
      if (byte == ':') continue;
      CAPTURE(before, byte);
      const std::string name(1, static_cast<char>(byte));
      CHECK(request_is_valid("GET / HTTP/1.1\r\n" + std::string(before, 'n') + name +
                             "n: v\r\n\r\n") == weir::http::is_token(name));
    }
  }
}

TEST_CASE("an incomplete head is not parsed") {
  std::vector<FieldView> fields;
  for (const char* text : {"", "\r\n", "\r\n\r\n", "GET / HTTP/1.1", "GET / HTTP/1.1\r\n",
                           "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\n\r\nX: y\r\n\r\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_request_head(text, fields).has_value());
    CHECK_FALSE(parse_response_head(text, fields).has_value());
  }
  for (const char* text :
       {"HTTP/1.1 200x\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n",
        "200 OK\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n",
        "HTTP/1.1\r\n\r\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_response_head(text, fields).has_value());
  }
}
