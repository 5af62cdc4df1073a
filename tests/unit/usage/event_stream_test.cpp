#include "usage/event_stream.hpp"

#include "catch.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

constexpr std::int64_t no_count = -1;
constexpr std::int64_t cut_body = -2;

TEST_CASE("WHATWG HTML 9.2.6: the data of events is read, line by line") {
  struct Row {
    std::string body;
    std::int64_t expected;
  };
  const Row rows[] = {
      {"data: {\"a\":1}\n\n", 1},
      {"data:{\"a\":1}\n\n", 1},
      {"data:  {\"a\":1}\n\n", 1},
      {"data:\t{\"a\":1}\n\n", 1},
      // line ends
      {"data: {\"a\":1}\r\n\r\n", 1},
      {"data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", 2},
      {"data: {\"a\":1}\n\rdata: {\"a\":2}\r\n\n", 2},
      {"\n\r\n\rdata: {\"a\":1}\n\n", 1},
      // the last event that has a count
      {"data: {\"a\":1}\n\ndata: {\"a\":2}\n\n", 2},
      {"data: {\"a\":1}\n\ndata: {\"b\":2}\n\n", 1},
      {"data: {\"a\":1}\n\ndata: {\"a\":null}\n\n", 1},
      {"data: {\"a\":1}\n\ndata: [DONE]\n\n", 1},
      {"data: [{\"a\":1}]\n\n", 1},
      // fields
      {"event: x\nid: 1\nretry: 5\ndata: {\"a\":1}\n\n", 1},
      {"data: {\"a\":1}\nevent: x\n\n", 1},
      {": {\"a\":1}\n\n", no_count},
      {":data: {\"a\":1}\n\n", no_count},
      {"Data: {\"a\":1}\n\n", no_count},
      {"data : {\"a\":1}\n\n", no_count},
      {" data: {\"a\":1}\n\n", no_count},
      {"dat: {\"a\":1}\n\n", no_count},
      {"datax: {\"a\":1}\n\n", no_count},
      {"dat\na: {\"a\":1}\n\n", no_count},
      {"{\"a\":1}\n\n", no_count},
      // several lines are joined with LF
      {"data: {\ndata: \"a\"\ndata: : 1\ndata:}\n\n", 1},
      {"data: {\"a\":1\n: comment\ndata\nevent: x\ndata: }\n\n", 1},
      {"data\ndata:\ndata: {\"a\":1}\n\n", 1},
      {"data: {\"a\":1\ndata: 2}\n\n", 1},
      {"data: {\"a\ndata: \":1}\n\n", no_count},
      // events without JSON
      {"data: hello {\"a\":1}\n\n", no_count},
      {"data: \"a\n\ndata: {\"a\":1}\n\n", 1},
      {"data: }\ndata: {\"a\":1}\n\n", no_count},
      {"data: :-(\n\ndata: {\"a\":1}\n\n", 1},
      {"data\n\ndata:\n\n", no_count},
      // malformed JSON in one event
      {"data: {\"a\"\n\ndata: {\"a\":1}\n\n", 1},
      {"data: {\"a\"\n\ndata: {\"b\":1}\n\n", cut_body},
      // the end of the stream ends the event
      {"data: {\"a\":1}\n", 1},
      {"data: {\"a\":1}", 1},
      {"data: {\"a\":1}\r", 1},
      {"data: {\"a\":1", cut_body},
      {"data: {\"a\":1\n", cut_body},
      {"data: {\"a\":1\ndata", 1},  // the line separates the number; the object stays open
      {"", no_count},
      {"\n", no_count},
  };
  const UsagePlan plan = plan_of({"/a"});
  UsageScanner scanner(plan);
  for (const Row& row : rows) {
    INFO(row.body);
    const Found found = scan(scanner, "text/event-stream", {row.body});
    CHECK(found.cost.value_or(found.is_complete ? no_count : cut_body) == row.expected);
    for (std::size_t at = 0; at <= row.body.size(); ++at) {
      INFO("cut at " << at);
      const std::string_view body = row.body;
      CHECK(scan(scanner, "text/event-stream", {body.substr(0, at), body.substr(at)}) == found);
    }
    CHECK(scan_bytes(scanner, "text/event-stream", row.body) == found);
  }
}

TEST_CASE("counts of one sum may be in different events; each keeps its last value") {
  const std::vector<std::string> entries{"/message/usage/input_tokens + /usage/output_tokens"};
  const auto found = [&](std::string_view body) {
    return scan(entries, "text/event-stream", body);
  };
  const std::string start = "data: {\"message\":{\"usage\":{\"input_tokens\":25}}}\n\n";
  const auto delta = [](int tokens) {
    return "data: {\"usage\":{\"output_tokens\":" + std::to_string(tokens) + "}}\n\n";
  };
  CHECK(found(start + delta(15)).cost == 40);
  CHECK(found(start + delta(3) + delta(15)).cost == 40);
  CHECK(found(delta(15) + start).cost == 40);
  CHECK(found(start).missing == MissingUsage::not_found);
  CHECK(found(start + "data: {\"usage\":{\"outp").missing == MissingUsage::incomplete);
}

}  // namespace
}  // namespace weir::usage
