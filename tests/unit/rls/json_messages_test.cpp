#include "rls/json_messages.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace weir::rls {
namespace {

using options::RateLimitUnit;
using namespace std::chrono_literals;

std::string in_descriptor(std::string_view members) {
  return R"({"descriptors":[{)" + std::string(members) + "}]}";
}

TEST_CASE("a request in JSON is read") {
  Request request;
  request.entries.resize(5);
  CHECK(read_json(R"( {"domain": "api\u002Fb\u0000", "hitsAddend": 7, "descriptors": [
          {"entries": [{"key": "user", "value": "\ud83d\ude00"}, {"key": "path"}],
           "limit": {"requestsPerUnit": 300, "unit": "MINUTE"}, "hitsAddend": "3", "isNegativeHits": true},
          {"entries": [{}], "hits_addend": 0}]} )",
                  request) == "");
  CHECK(request.domain == std::string_view("api/b\0", 6));
  CHECK(request.hits_addend == 7);
  REQUIRE(request.descriptors.size() == 2);
  const Request moved = std::move(request);  // the views remain valid
  const Descriptor& first = moved.descriptors[0];
  const auto entries = moved.entries_of(first);
  CHECK(std::vector<Entry>(entries.begin(), entries.end()) ==
        std::vector<Entry>{{"user", "\U0001F600"}, {"path", ""}});
  CHECK(first.limit == StatedLimit{.requests_per_unit = 300, .unit = RateLimitUnit::minute});
  CHECK(first.hits_addend == 3U);
  CHECK(first.is_negative_hits);
  const Descriptor& second = moved.descriptors[1];
  CHECK(moved.entries_of(second).size() == 1);
  CHECK(moved.entries_of(second)[0] == Entry{});
  CHECK_FALSE(second.limit.has_value());
  CHECK(second.hits_addend == 0U);
  CHECK_FALSE(second.is_negative_hits);
}

TEST_CASE("null is an absent field") {
  Request request;
  for (const std::string_view text :
       {"{}", R"({"domain":null,"descriptors":null,"hitsAddend":null})"}) {
    CHECK(read_json(text, request) == "");
    CHECK((request.domain.empty() && request.descriptors.empty() && request.hits_addend == 0));
  }
  CHECK(read_json(
            in_descriptor(R"("entries":null,"limit":null,"hitsAddend":null,"isNegativeHits":null)"),
            request) == "");
  REQUIRE(request.descriptors.size() == 1);
  CHECK(request.descriptors[0] == Descriptor{});
}

TEST_CASE("a limit in JSON has its unit by name or number") {
  struct Row {
    std::string_view limit;
    StatedLimit expected;
  };
  const Row rows[] = {
      {"{}", {}},
      {R"({"requests_per_unit":"5","unit":"SECOND"})", {5, RateLimitUnit::second}},
      {R"({"requestsPerUnit":1e2,"unit":"YEAR"})", {100, RateLimitUnit::year}},
      {R"({"unit":"UNKNOWN"})", {}},
      {R"({"unit":"WEEK"})", {0, RateLimitUnit::week}},
      {R"({"unit":2})", {0, RateLimitUnit::minute}},
      {R"({"unit":2.0})", {0, RateLimitUnit::minute}},
      {R"({"unit":7})", {0, RateLimitUnit::week}},
      {R"({"unit":8})", {}},
      {R"({"unit":2147483647})", {}},
      {R"({"unit":-1})", {}},
      {R"({"unit":-2147483648})", {}},
      {R"({"unit":null})", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.limit);
    Request request;
    CHECK(read_json(in_descriptor(R"("limit":)" + std::string(row.limit)), request) == "");
    REQUIRE(request.descriptors.size() == 1);
    CHECK(request.descriptors[0].limit == row.expected);
  }
}

TEST_CASE("a request in JSON that is not valid is refused with the place") {
  constexpr auto syntax = "the request is not JSON in UTF-8";
  constexpr auto small = ": expected a whole number from 0 to 4294967295";
  struct Row {
    std::string text;
    std::string reason;
  };
  const Row rows[] = {
      {"", syntax},
      {"{} x", syntax},
      {R"({"domain":"a",})", syntax},
      {"{\"domain\":\"\xff\"}", syntax},
      {R"({"domain":"\ud800"})", syntax},
      {"\xef\xbb\xbf{}", syntax},
      {"null", "the request: expected an object"},
      {"[]", "the request: expected an object"},
      {R"({"domain":"a","domain":"b"})", "the request has a field twice in one object"},
      {R"({"hitsAddend":1,"hits_addend":1})", "hits_addend: the field has a second value"},
      {R"({"hitsAddend":null,"hits_addend":1})", "hits_addend: the field has a second value"},
      {R"({"x":null})", R"(the request: unknown field "x")"},
      {R"({"Domain":""})", R"(the request: unknown field "Domain")"},
      {R"({"\u001b\"":""})", R"(the request: unknown field "\u001b\"")"},
      {R"({"domain":1})", "domain: expected a string"},
      {R"({"hitsAddend":4294967296})", std::string("hitsAddend") + small},
      {R"({"hitsAddend":-1})", std::string("hitsAddend") + small},
      {R"({"hitsAddend":1.5})", std::string("hitsAddend") + small},
      {R"({"hits_addend":" 1"})", std::string("hits_addend") + small},
      {R"({"hitsAddend":true})", std::string("hitsAddend") + small},
      {R"({"hitsAddend":[]})", std::string("hitsAddend") + small},
      {R"({"descriptors":{}})", "descriptors: expected a list"},
      {R"({"descriptors":[{},null]})", "descriptors[1]: expected an object"},
      {in_descriptor(R"("entries":{})"), "descriptors[0].entries: expected a list"},
      {in_descriptor(R"("entries":[{},null])"), "descriptors[0].entries[1]: expected an object"},
      {in_descriptor(R"("entries":[{"key":1}])"),
       "descriptors[0].entries[0].key: expected a string"},
      {in_descriptor(R"("entries":[{"key":"k","name":1}])"),
       R"(descriptors[0].entries[0]: unknown field "name")"},
      {in_descriptor(R"("limit":[])"), "descriptors[0].limit: expected an object"},
      {in_descriptor(R"("limit":{"unit":"minute"})"),
       "descriptors[0].limit.unit: unknown unit; the units are SECOND, MINUTE, HOUR, DAY, WEEK, "
       "MONTH and YEAR"},
      {in_descriptor(R"("limit":{"unit":"2"})"),
       "descriptors[0].limit.unit: unknown unit; the units are SECOND, MINUTE, HOUR, DAY, WEEK, "
       "MONTH and YEAR"},
      {in_descriptor(R"("limit":{"unit":2147483648})"),
       "descriptors[0].limit.unit: expected the name or the number of a unit"},
      {in_descriptor(R"("limit":{"unit":-2147483649})"),
       "descriptors[0].limit.unit: expected the name or the number of a unit"},
      {in_descriptor(R"("limit":{"unit":true})"),
       "descriptors[0].limit.unit: expected the name or the number of a unit"},
      {in_descriptor(R"("limit":{"requestsPerUnit":4294967296})"),
       std::string("descriptors[0].limit.requestsPerUnit") + small},
      {in_descriptor(R"("hitsAddend":{"value":1})"),
       "descriptors[0].hitsAddend: expected a whole number from 0 to 18446744073709551615"},
      {in_descriptor(R"("hitsAddend":18446744073709551616)"),
       "descriptors[0].hitsAddend: expected a whole number from 0 to 18446744073709551615"},
      {in_descriptor(R"("isNegativeHits":"true")"),
       "descriptors[0].isNegativeHits: expected true or false"},
      {R"({"a":[[[[[[[[[]]]]]]]]]})", "the request is nested more deeply than a RateLimitRequest"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    Request request;
    CHECK(read_json(row.text, request) == row.reason);
  }
}

TEST_CASE("a request in JSON is refused beyond the bounds") {
  const auto list = [](std::size_t count, const std::string& item) {
    std::string text = item;
    for (std::size_t i = 1; i < count; ++i)
      text += "," + item;
    return "[" + text + "]";
  };
  Request request;
  const std::string full =
      R"({"entries":)" + list(most_entries, R"({"key":"","value":""})").append("}");
  CHECK(read_json(R"({"descriptors":)" + list(40, full) + "}", request) == "");
  CHECK(request.entries.size() == 40 * most_entries);
  const std::string half =
      R"({"entries":)" +
      list(most_entries, R"({"key":""})").append(R"(,"limit":{"unit":1},"hitsAddend":1})");
  CHECK(read_json(R"({"descriptors":)" + list(most_descriptors, half) + "}", request) == "");
  CHECK(read_json(R"({"descriptors":)" + list(most_descriptors + 1, "{}") + "}", request) ==
        "descriptors: more than 64 values");
  CHECK(read_json(in_descriptor(R"("entries":)" + list(most_entries + 1, "{}")), request) ==
        "descriptors[0].entries: more than 64 values");
  CHECK(read_json(R"({"descriptors":)" + list(20'000, "1") + "}", request) ==
        "the request has too many values");
  const std::string begin = R"({"domain":")";
  CHECK(read_json(begin + std::string(most_message_bytes - begin.size() - 2, 'd') + "\"}",
                  request) == "");
  CHECK(read_json(begin + std::string(most_message_bytes - begin.size() - 1, 'd') + "\"}",
                  request) == "the request is longer than 65536 bytes");
}

TEST_CASE("a response is written in JSON without defaults") {
  Response response;
  std::string out = "before ";
  append_json(out, response);
  CHECK(out == "before {}");

  response.overall_code = Code::over_limit;
  response.statuses = {
      {.code = Code::over_limit,
       .current_limit =
           CurrentLimit{
               .requests_per_unit = 4'294'967'295, .unit = RateLimitUnit::hour, .name = "n\""},
       .duration_until_reset = 12s},
      {.code = Code::ok,
       .current_limit = CurrentLimit{},
       .limit_remaining = 200,
       .duration_until_reset = 0s},
      {.code = Code::unknown},
  };
  response.response_headers_to_add.add("a", "b");
  response.response_headers_to_add.add("c", "");
  response.dynamic_metadata.policy = "p\"";
  out.clear();
  append_json(out, response);
  CHECK(
      out ==
      R"({"overallCode":"OVER_LIMIT","statuses":[)"
      R"({"code":"OVER_LIMIT","currentLimit":{"name":"n\"","requestsPerUnit":4294967295,"unit":"HOUR"},)"
      R"("durationUntilReset":"12s"},)"
      R"({"code":"OK","currentLimit":{},"limitRemaining":200,"durationUntilReset":"0s"},)"
      R"({}],"responseHeadersToAdd":[{"key":"a","value":"b"},{"key":"c"}],"dynamicMetadata":{"policy":"p\""}})");
}

TEST_CASE("a duration in JSON has the digits that it needs") {
  struct Row {
    Duration duration;
    std::string_view text;
  };
  const Row row = GENERATE(values<Row>({{1500ms, "1.500s"},
                                        {5ms, "0.005s"},
                                        {1us, "0.000001s"},
                                        {1s + 500us, "1.000500s"},
                                        {365 * 24h, "31536000s"}}));
  Response response;
  response.statuses = {{.duration_until_reset = row.duration}};
  std::string out;
  append_json(out, response);
  CHECK(out ==
        R"({"statuses":[{"code":"OK","durationUntilReset":")" + std::string(row.text) + "\"}]}");
}

}  // namespace
}  // namespace weir::rls
