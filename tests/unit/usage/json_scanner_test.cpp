#include "usage/json_scanner.hpp"

#include "catch.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

constexpr std::int64_t none = -1;  // no count in a complete body
constexpr std::int64_t cut = -2;   // no count, and the body is incomplete

struct Row {
  std::string body;
  std::int64_t expected;
};

/// Scans each body whole and by bytes.
template <std::size_t rows>
void check(const std::vector<std::string>& entries, std::string_view type,
           const Row (&table)[rows]) {
  const UsagePlan plan = plan_of(entries);
  UsageScanner scanner(plan);
  for (const Row& row : table) {
    INFO(row.body);
    const Found found = scan(scanner, type, {row.body});
    CHECK(found.cost.value_or(found.is_complete ? none : cut) == row.expected);
    CHECK(scan_bytes(scanner, type, row.body) == found);
  }
}

TEST_CASE("values are found by the names of members and the indexes of elements") {
  const Row members[] = {
      {R"({"a":{"b":5}})", 5},
      {R"({"x":1,"a":{"x":[],"b":5,"y":{}},"z":null})", 5},
      {" {\t\"a\" :\r\n{ \"b\" : 5 } }\n", 5},
      {R"({"a":{"c":5}})", none},
      {R"({"a":5})", none},
      {R"({"a":[5]})", none},
      {R"({"b":5})", none},
      {R"({"a":{"a":{"b":5}}})", none},
      {R"({"x":{"a":{"b":5}}})", none},
      {R"({"A":{"b":5}})", none},
      {R"({"a ":{"b":5}})", none},
      {R"({"aa":{"b":5},"":{"b":6}})", none},
      {"5", none},
      {"\"a\"", none},
      {"", none},
  };
  check({"/a/b"}, "application/json", members);
  const Row indexes[] = {
      {R"({"a":[1,2,3]})", 2},     {R"({"a":[[],2]})", 2}, {R"({"a":[{"1":9},2]})", 2},
      {R"({"a":[1]})", none},      {R"({"a":[]})", none},  {R"({"a":[1,[2]]})", none},
      {R"({"a":{"1":2}})", 2},  // also the name of a member
      {R"({"a":{"01":2}})", none},
  };
  check({"/a/1"}, "application/json", indexes);
  const Row after_the_last[] = {{R"({"a":[1,2]})", none}, {R"({"a":{"-":2}})", 2}};
  check({"/a/-"}, "application/json", after_the_last);
  const Row both[] = {{R"({"a":1})", none}, {R"({"a":{"b":1}})", none}};
  check({"/a + /a/b"}, "application/json", both);
}

TEST_CASE("the last member of a name wins, whatever it is") {
  const Row rows[] = {
      {R"({"a":{"b":1,"b":2}})", 2},       {R"({"a":{"b":1},"a":{"b":2}})", 2},
      {R"({"a":{"b":1,"b":null}})", none}, {R"({"a":{"b":1,"b":"2"}})", none},
      {R"({"a":{"b":1,"b":{}}})", none},   {R"({"a":{"b":1,"b":[2]}})", none},
      {R"({"a":{"b":1,"b":-2}})", none},   {R"({"a":{"b":1},"a":{}})", none},
      {R"({"a":{"b":1},"a":null})", none}, {R"({"a":{"b":1},"a":[]})", none},
      {R"({"a":{"b":null,"b":2}})", 2},    {R"({"a":{"b":1,"\u0062":2}})", 2},
  };
  check({"/a/b"}, "application/json", rows);
}

TEST_CASE("the last document that has a count wins") {
  const Row rows[] = {
      {R"({"a":1}{"a":2})", 2},
      {R"({"a":1} {"a":2})", 2},
      {"{\"a\":1}\n{\"a\":null}\n", 1},
      {"{\"a\":1}\n{}\n[]\nnull 5 \"a\"", 1},
      {"1{\"a\":1}true", 1},
  };
  check({"/a"}, "application/json", rows);
  check({"/a"}, "application/jsonl", rows);
  const Row sums[] = {
      {R"({"a":1}{"b":2})", 3},
      {R"({"a":1}{"b":2}{"a":5})", 7},
      {R"({"a":1}{"a":2})", none},
  };
  check({"/a + /b"}, "application/json", sums);
}

TEST_CASE("in an array, a pointer without an index is applied to each element") {
  const Row rows[] = {
      {R"([{"a":1},{"a":2}])", 2},
      {R"([{"a":1},{"b":2}])", 1},
      {R"([{"a":1},{"a":null}])", 1},
      {R"([{"a":1,"a":null}])", none},
      {R"([[{"a":1}]])", none},
      {R"([{"x":{"a":1}}])", none},
      {R"([])", none},
      {R"([1,"a",{"a":3}])", 3},
      {R"([{"a":1},{"a":2)", 1},
      {R"([{"a":1})", 1},
      {R"([{"a")", cut},
  };
  check({"/a"}, "application/json", rows);
  const Row with_index[] = {
      {R"([{"a":1},{"a":2}])", 1},
      {R"([{"0":{"a":1}}])", none},
      {R"({"0":{"a":1}})", 1},
  };
  check({"/0/a"}, "application/json", with_index);
  const Row sums[] = {{R"([{"b":1},{"a":2}])", 3}, {R"([{"a":2}])", none}};
  check({"/0/b + /a"}, "application/json", sums);
}

TEST_CASE("an error ends the document; counts that were complete before it are kept") {
  const Row rows[] = {
      {R"({"a":1)", cut},  // the number may go on
      {R"({"a":1,)", 1},
      {R"({"a":1 )", 1},
      {R"({"a":1]})", 1},
      {R"({"a":1 "b":2})", 1},
      {R"({"a":1,}{"a":2})", 1},
      {R"({"a":1}})", 1},
      {R"({"a":1},{"a":2})", 1},
      {R"({"a" 1})", cut},
      {R"({"a"::1})", cut},
      {R"({"a":})", cut},
      {R"({,"a":1})", cut},
      {R"({a:1})", cut},
      {R"({1:1})", cut},
      {R"({)", cut},
      {R"({"a)", cut},
      {R"({"a":)", cut},
      {R"({"x":[{"y":"z)", cut},
      {R"([1)", cut},
      {")]}',\n{\"a\":1}", cut},
      {"{\"x\":[1,2}", cut},
      // no pointer leads into a document that is not an object or array
      {"\"a", none},
      {"tru", none},
  };
  check({"/a"}, "application/json", rows);
}

TEST_CASE("an error in a line does not affect the other lines") {
  const Row rows[] = {
      {"{\"a\":1}\n{\"a\":2", 1},  {"{\"a\"\n{\"a\":2}\n", 2},      {"{\"a\":1\n{\"b\":2}\n", cut},
      {"}\n{\"a\":2}\n", 2},       {"{\"x\":\"\n{\"a\":2}\r\n", 2}, {"\n\n{\"a\":2}\n\n", 2},
      {"{\"a\":1}\n{\"a\":2}", 2},
  };
  check({"/a"}, "application/x-ndjson", rows);
}

TEST_CASE("a count after an error is complete, one before it is not") {
  const auto is_complete = [](std::string_view body) {
    return scan({"/a"}, "application/jsonl", body).is_complete;
  };
  CHECK(is_complete("{\"a\n{\"a\":2}\n"));
  CHECK_FALSE(is_complete("{\"a\":2}\n{\"a\n"));
  CHECK_FALSE(is_complete("{\"a\n{\"b\":2}\n"));
  // The earlier entry may have been in the broken line.
  CHECK_FALSE(scan({"/a", "/b"}, "application/jsonl", "{\"a\n{\"b\":2}\n").is_complete);
  CHECK(scan({"/a", "/b"}, "application/jsonl", "{\"b\n{\"a\":2}\n").is_complete);
}

TEST_CASE("what no pointer selects is read tolerantly") {
  const Row rows[] = {
      {R"({"x":NaN,"y":-Infinity,"z":[NaN,01,+1,.5],"a":1})", 1},
      {"{\"x\":\"line\nfeed \x01 \xff\xfe\",\"a\":1}", 1},
      {R"({"x":"\q\u12","y":"\\","z":"\"","a":1})", 1},
      {R"({"x":{"a":2,"y":["]}","\"}]"]},"a":1})", 1},
      {R"({"x":[{]],"a":1})", 1},
      {R"({"\q":2,"\u12":3,"\u":4,"a":1})", 1},
      {R"({"x":)" + std::string(100000, '[') + std::string(100000, ']') + R"(,"a":1})", 1},
  };
  check({"/a"}, "application/json", rows);
}

TEST_CASE("escapes of names are decoded before they are compared") {
  const Row rows[] = {
      {R"({"\u0061\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00":5})", 5},
      {R"({"a\u0022\u005c/\u0008\u000c\u000a\u000d\u0009\u00E9\u20AC\uD83D\uDE00":5})", 5},
      {"{\"a\\\"\\\\/\\b\\f\\n\\r\\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\":5}", 5},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d":5})", none},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ude00\ud83d":5})", none},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ud83d\ude00":5})", none},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83dx\ude00":5})", none},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\n\ude00":5})", none},
      {R"({"a\"\\\/\b\f\n\r\t\u00e9\u20ac\u{1f600}":5})", none},
      {R"({"\a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00":5})", none},
  };
  check({"/a\"\\~1\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"}, "application/json", rows);
}

}  // namespace
}  // namespace weir::usage
