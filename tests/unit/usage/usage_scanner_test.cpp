#include "usage/usage_scanner.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

constexpr Found not_found{.cost = {}, .is_complete = true, .missing = MissingUsage::not_found};
constexpr Found incomplete{.cost = {}, .is_complete = false, .missing = MissingUsage::incomplete};

Found of(std::int64_t cost) {
  return {.cost = cost};
}

TEST_CASE("the format follows from the media type") {
  struct Row {
    std::string_view type;
    BodyFormat format;
  };
  const Row rows[] = {
      {"application/json", BodyFormat::json},
      {"Application/JSON", BodyFormat::json},
      {"application/json; charset=utf-8", BodyFormat::json},
      {"application/json ;charset=utf-8", BodyFormat::json},
      {"application/problem+json", BodyFormat::json},
      {"application/vnd.api+JSON; profile=x", BodyFormat::json},
      {"text/event-stream", BodyFormat::events},
      {"text/event-stream; charset=utf-8", BodyFormat::events},
      {"application/x-ndjson", BodyFormat::lines},
      {"application/jsonl", BodyFormat::lines},
      {"", BodyFormat::other},
      {"text/plain", BodyFormat::other},
      {"text/html; a=application/json", BodyFormat::other},
      {"application/json5", BodyFormat::other},
      {"+json", BodyFormat::other},
      {"x+json", BodyFormat::other},
      {"application/x-json-stream", BodyFormat::other},
      {"application/octet-stream", BodyFormat::other},
  };
  for (const Row& row : rows) {
    INFO(row.type);
    CHECK(body_format(row.type) == row.format);
  }
}

TEST_CASE("a body with a coding is not read, and this is the reason") {
  const UsagePlan plan = plan_of({"/a"});
  UsageScanner scanner(plan);
  const auto missing = [&](std::string_view type, std::string_view coding) {
    scanner.begin(type, coding);
    CHECK(scanner.needs_body() == (coding == "" || coding == "identity, Identity"));
    scanner.feed(R"({"a":1})");
    return scanner.finish(BodyEnd::complete).missing;
  };
  CHECK(missing("application/json", "gzip") == MissingUsage::content_encoding);
  CHECK(missing("application/json", "identity, br") == MissingUsage::content_encoding);
  CHECK(missing("text/event-stream", "zstd") == MissingUsage::content_encoding);
  CHECK(missing("application/json", "") == MissingUsage::none);
  CHECK(missing("application/json", "identity, Identity") == MissingUsage::none);
}

TEST_CASE("each reason for a missing cost has a name") {
  CHECK(scan({"/a"}, "text/plain", R"({"a":1})").missing == MissingUsage::content_type);
  CHECK(scan({"/a"}, "application/json", R"({"b":1})") == not_found);
  CHECK(scan({"/a"}, "application/json", R"({"a":null})").missing == MissingUsage::not_a_count);
  CHECK(scan({"/a"}, "application/json", R"({"a")") == incomplete);
  CHECK(scan({"x-cost"}, "text/plain", "") == not_found);
  const std::string_view names[] = {"none",       "content_type", "content_encoding",
                                    "incomplete", "not_a_count",  "not_found"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    CHECK(name_of(static_cast<MissingUsage>(i)) == names[i]);
}

TEST_CASE("the first entry that has a value is charged") {
  const std::vector<std::string> entries{"/a", "/b + /c", "/d"};
  const auto cost = [&](std::string_view body) { return scan(entries, "application/json", body); };
  CHECK(cost(R"({"a":1,"b":2,"c":3,"d":4})") == of(1));
  CHECK(cost(R"({"d":4,"c":3,"b":2})") == of(5));
  CHECK(cost(R"({"b":2,"d":4})") == of(4));
  CHECK(cost(R"({"a":"1","c":2,"d":0})") == of(0));
  CHECK(cost(R"({"a":null,"b":2})").missing == MissingUsage::not_a_count);
  CHECK(cost(R"({"b":9007199254740990,"c":5})") == of(largest_count));
}

TEST_CASE("a field of the message has its place among the entries") {
  const UsagePlan plan = plan_of({"/a", "x-usage-tokens", "/b"});
  UsageScanner scanner(plan);
  const auto cost = [&](std::string_view field, std::string_view body) {
    scanner.begin("application/json", "");
    scanner.add_field(1, field);
    scanner.feed(body);
    const Usage usage = scanner.finish(BodyEnd::complete);
    return std::pair{usage.cost.value_or(-1), usage.entry};
  };
  CHECK(cost("7", R"({"a":1,"b":2})") == std::pair{std::int64_t{1}, std::size_t{0}});
  CHECK(cost(" 7 ", R"({"b":2})") == std::pair{std::int64_t{7}, std::size_t{1}});
  CHECK(cost("0", R"({"b":2})") == std::pair{std::int64_t{0}, std::size_t{1}});
  // Neither a list, nor a sign, nor nothing is a count.
  for (const char* field : {"", "7, 8", "-7", "7 tokens", "0x7"})
    CHECK(cost(field, R"({"b":2})") == std::pair{std::int64_t{2}, std::size_t{2}});
}

TEST_CASE("a body is not needed after a field that precedes its pointers") {
  const UsagePlan plan = plan_of({"x-usage-tokens", "/a"});
  UsageScanner scanner(plan);
  scanner.begin("application/json", "");
  CHECK(scanner.needs_body());
  scanner.add_field(0, "7");
  CHECK_FALSE(scanner.needs_body());
  CHECK(scanner.finish(BodyEnd::cut_off).cost == 7);
  scanner.begin("text/plain", "");
  CHECK_FALSE(scanner.needs_body());
  // The field of the message before is not used again.
  CHECK(scanner.finish(BodyEnd::complete).missing == MissingUsage::content_type);
}

TEST_CASE("a body that was cut off has a cost that may be too low") {
  const auto found = [](std::string_view type, std::string_view body) {
    return scan({"/a", "/b"}, type, body, BodyEnd::cut_off);
  };
  const Found at_least_five{.cost = 5, .is_complete = false};
  CHECK(found("application/json", R"({"b":5})") == at_least_five);
  CHECK(found("text/event-stream", "data: {\"b\":5}\n\n") == at_least_five);
  CHECK(found("application/jsonl", "{\"b\":5}\n") == at_least_five);
  CHECK(found("application/json", "") == incomplete);
  CHECK(found("text/event-stream", "") == incomplete);
}

TEST_CASE("a byte order mark may arrive in pieces; a part of one is content") {
  const UsagePlan plan = plan_of({"/a"});
  UsageScanner scanner(plan);
  for (const std::string_view type : {"application/json", "application/jsonl"}) {
    CHECK(scan(scanner, type, {"\xef", "\xbb", "\xbf{\"a\":1}"}) == of(1));
    CHECK(scan(scanner, type, {"\xef\xbb\xbf", "\xef\xbb\xbf{\"a\":1}"}) == of(1));
  }
  const std::string_view events = "text/event-stream";
  CHECK(scan(scanner, events, {"\xef", "\xbb", "\xbf", "data:{\"a\":1}\n\n"}) == of(1));
  CHECK(scan(scanner, events, {"\xef\xbb", "data:{\"a\":1}\n\n"}) == not_found);
  CHECK(scan(scanner, events, {"\xef\xbb\xbf\xef\xbb\xbf", "data:{\"a\":1}\n\n"}) == not_found);
  CHECK(scan(scanner, events, {"\xef\xbbx\n\ndata:{\"a\":1}\n\n"}) == of(1));
}

TEST_CASE("the limit of a request is read from its body in the same way") {
  const std::string_view body =
      R"({"model":"gpt-4o","messages":[{"role":"user","content":"\"max_tokens\": 9"}],)"
      R"("stream":true,"max_tokens":256})";
  CHECK(scan({"/max_completion_tokens", "/max_tokens"}, "application/json", body) == of(256));
}

/// Returns the rest of a body that arrives in pieces of `size` bytes.
std::string without_mark(std::string_view body, std::size_t size) {
  ByteOrderMark mark;
  std::string left;
  while (!body.empty()) {
    std::string_view piece = body.substr(0, size);
    body.remove_prefix(std::min(size, body.size()));
    left += mark.remove_from(piece);
    left += piece;
  }
  return left;
}

TEST_CASE("a mark at the start is removed, and nothing else, in whatever pieces it arrives") {
  const auto [body, left] = GENERATE(table<std::string, std::string>({
      {"", ""},
      {"{}", "{}"},
      {"\xef\xbb\xbf", ""},
      {"\xef\xbb\xbf{}", "{}"},
      {"\xef\xbb\xbf\xef\xbb\xbf{}", "\xef\xbb\xbf{}"},  // the second is content
      {"\xef\xbb{}", "\xef\xbb{}"},
      {"\xef{}", "\xef{}"},
      {"\xef\xbb\xbe", "\xef\xbb\xbe"},
      {"{\xef\xbb\xbf}", "{\xef\xbb\xbf}"},
  }));
  for (const std::size_t size : {1, 2, 3, 4, 100}) {
    CAPTURE(body, size);
    CHECK(without_mark(body, size) == left);
  }
}

}  // namespace
}  // namespace weir::usage
