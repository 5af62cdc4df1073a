#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "http/answer_reader.hpp"
#include "http/head_parser.hpp"

namespace weir::http {
namespace {

/// -1: no lifetime.
std::int64_t lifetime(std::string_view field_lines) {
  const std::string head = "HTTP/1.1 200 OK\r\n" + std::string(field_lines) + "\r\n";
  std::vector<FieldView> fields;
  REQUIRE(parse_response_head(head, fields));
  const auto found = fresh_for(fields);
  return found ? found->count() : -1;
}

TEST_CASE("the lifetime of an answer") {
  struct Row {
    std::string_view fields;
    std::int64_t seconds;
  };
  const Row rows[] = {
      // No max-age.
      {"", -1},
      {"Cache-Control: no-store\r\n", -1},
      {"Cache-Control:\r\n", -1},
      {"Cache-Control: ,,\r\n", -1},
      {"Cache-Control: s-maxage=60, x-max-age=60, max-age-x=60\r\n", -1},
      {"Expires: Thu, 01 Jan 2099 00:00:00 GMT\r\n", -1},
      {"X: max-age=60\r\n", -1},
      // A number, wherever it is in the list.
      {"Cache-Control: max-age=600\r\n", 600},
      {"cache-control: public, MAX-AGE=600 ,must-revalidate\r\n", 600},
      {"Cache-Control: max-age=\"600\"\r\n", 600},
      {"Cache-Control: max-age=0\r\n", 0},
      {"Cache-Control: public\r\nCache-Control: max-age=007\r\n", 7},
      // The smallest of several.
      {"Cache-Control: max-age=5, max-age=600\r\n", 5},
      {"Cache-Control: max-age=600\r\nCache-Control: max-age=5\r\n", 5},
      // Other text is no number (RFC 9111 section 1.2.2).
      {"Cache-Control: max-age\r\n", -1},
      {"Cache-Control: max-age=\r\n", -1},
      {"Cache-Control: max-age=-1\r\n", -1},
      {"Cache-Control: max-age=+1\r\n", -1},
      {"Cache-Control: max-age=1.5\r\n", -1},
      {"Cache-Control: max-age=0x10\r\n", -1},
      {"Cache-Control: max-age= 60\r\n", -1},
      {"Cache-Control: max-age=\"\r\n", -1},
      {"Cache-Control: max-age=\"60\r\n", -1},
      {"Cache-Control: max-age=60s\r\n", -1},
      // Too large for any clock.
      {"Cache-Control: max-age=2147483648\r\n", 2147483648},
      {"Cache-Control: max-age=2147483649\r\n", 2147483648},
      {"Cache-Control: max-age=99999999999999999999999999\r\n", 2147483648},
      // A directive within a quoted string is text.
      {"Cache-Control: private=\"x, max-age=5\", max-age=600\r\n", 600},
      {"Cache-Control: private=\"x\\\", max-age=5\", max-age=600\r\n", 600},
      {"Cache-Control: private=\"x, max-age=5\r\n", -1},
      {"Cache-Control: private=\"x\\\r\n", -1},
      // The time that it has spent in caches.
      {"Cache-Control: max-age=600\r\nAge: 100\r\n", 500},
      {"Age: 600\r\nCache-Control: max-age=600\r\n", 0},
      {"Age: 601\r\nCache-Control: max-age=600\r\n", 0},
      {"Age: 99999999999999999999\r\nCache-Control: max-age=600\r\n", 0},
      {"Age: x\r\nCache-Control: max-age=600\r\n", 600},
      {"Age: -5\r\nCache-Control: max-age=600\r\n", 600},
      {"Age: 5\r\n", -1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fields);
    CHECK(lifetime(row.fields) == row.seconds);
  }
}

}  // namespace
}  // namespace weir::http
