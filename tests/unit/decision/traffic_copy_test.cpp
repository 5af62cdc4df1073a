// The copy of a worker's requests: heads, ends with their costs, the bound, and two threads.
#include "decision/traffic_copy.hpp"

#include <thread>

#include "catch.hpp"
#include "decision/head_inspection.hpp"
#include "decision/header_list_inspection.hpp"
#include "unit/decision/configuration.hpp"

namespace weir::decision::test {
namespace {

const Instant copied_at = instant_from_us(1'767'225'600'000'000);

/// A request whose head has been inspected.
struct Inspected {
  explicit Inspected(std::string its_head) : head(std::move(its_head)) {
    received.peer = IpAddress::v4({192, 0, 2, 7});
    if (const auto refusal = inspect_head(rules, head, received))
      FAIL(std::string(refusal->detail));
  }
  TrafficCopy::Arrival arrival(std::string_view body = {}) const {
    return {.at = copied_at, .request = received, .body = body};
  }
  Configuration configuration;
  RequestRules rules{configuration.proxy, configuration.limiter};
  http::ReceivedRequest received;
  std::string head;
};

std::string written_again(const std::string& head) {
  std::string text;
  append_head(text, Inspected(head).received);
  return text;
}

const std::string plain = "GET /a?b=c HTTP/1.1\r\nHost: a:8080\r\nX-Key: k\r\n\r\n";

}  // namespace

TEST_CASE("traffic copy: a head is written as it could have been received") {
  CHECK(written_again(plain) == plain);
  CHECK(written_again("GET / HTTP/1.0\r\n\r\n") == "GET / HTTP/1.0\r\n\r\n");
  CHECK(written_again("OPTIONS * HTTP/1.1\r\nhost: a\r\nX:  1 \r\nX: 2\r\n\r\n") ==
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n");
  CHECK(written_again("GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n") ==
        "GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST_CASE("traffic copy: the head shows whether there is a body, also without a length") {
  struct Row {
    std::string length;  ///< empty: no Content-Length
    bool has_body;
    http::Framing framing;
  };
  const auto row = GENERATE(Row{"", true, {.kind = http::Framing::Kind::chunked}},
                            Row{"7", true, {.kind = http::Framing::Kind::length, .length = 7}},
                            Row{"", false, {}});
  const Configuration configuration;
  const RequestRules rules{configuration.proxy, configuration.limiter};
  http::HeaderList list;
  list.begin(4096);
  list.add(":method", "POST");
  list.add(":scheme", "https");
  list.add(":authority", "a");
  list.add(":path", "/b");
  if (!row.length.empty()) list.add("content-length", row.length);
  http::ReceivedRequest received;
  REQUIRE_FALSE(inspect_header_list(rules, list, row.has_body, received));
  std::string text;
  append_head(text, received);
  CHECK(Inspected(text).received.framing == row.framing);
  const std::string in_chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(written_again(in_chunks) == in_chunks);
}

TEST_CASE("traffic copy: requests and ends are taken once, in their order") {
  TrafficCopy copy(5);
  const Inspected request(plain);
  CHECK(copy.add(request.arrival()) == 5);
  CHECK(copy.add(request.arrival("{\"n\":1}")) == 6);
  copy.add({.number = 5, .at = copied_at, .how = {.status = 200}, .served = Duration{7}});
  CopiedTraffic taken;
  copy.take(taken);
  REQUIRE(taken.events.size() == 3);
  CHECK(taken.events[0].number == 5);
  CHECK(taken.events[0].at == copied_at);
  CHECK(taken.events[0].peer == IpAddress::v4({192, 0, 2, 7}));
  CHECK(taken.head_of(taken.events[0]) == plain);
  CHECK(taken.body_of(taken.events[0]).empty());
  CHECK(taken.head_of(taken.events[1]) == plain);
  CHECK(taken.body_of(taken.events[1]) == "{\"n\":1}");
  CHECK(taken.events[2].is_end);
  CHECK(taken.events[2].number == 5);
  CHECK(taken.events[2].how.status == 200);
  CHECK(taken.events[2].served == Duration{7});
  copy.take(taken);
  CHECK(taken.events.empty());
  CHECK(copy.add(request.arrival()) == 7);
}

TEST_CASE("traffic copy: an end has the costs that the response has stated") {
  limiter::Policy tokens;
  tokens.name = "tokens";
  limiter::HeldUnits held;
  held.limits.push_back({.policy = &tokens});
  held.limits.push_back({.policy = &tokens});
  held.limits.back().stated.emplace().cost = 42;
  TrafficCopy copy(1);
  copy.add({.number = 1, .held = &held});
  copy.add({.number = 2});
  CopiedTraffic taken;
  copy.take(taken);
  REQUIRE(taken.costs.size() == 1);
  CHECK(taken.costs[0].policy == "tokens");
  CHECK(taken.costs[0].usage.cost == 42);
  CHECK(taken.events[0].cost_count == 1);
  CHECK(taken.events[1].cost_count == 0);
}

TEST_CASE("traffic copy: requests without room are skipped and counted, ends are not") {
  TrafficCopy copy(1);
  const Inspected request(plain);
  const std::string body(64 * 1024, 'x');
  std::uint64_t added = 0;
  while (copy.add(request.arrival(body)) != 0)
    ++added;
  CHECK(added == TrafficCopy::most_text / (body.size() + plain.size()));
  CHECK(copy.add(request.arrival()) != 0);  // a smaller one still has room
  copy.add({.number = 1});
  CopiedTraffic taken;
  copy.take(taken);
  CHECK(taken.skipped == 1);
  CHECK(taken.events.size() == added + 2);
  CHECK(taken.text.size() <= TrafficCopy::most_text);
  CHECK(copy.add(request.arrival(body)) == added + 2);
  copy.take(taken);
  CHECK(taken.skipped == 0);
  copy.skip();
  copy.skip();
  copy.take(taken);
  CHECK(taken.skipped == 2);
}

TEST_CASE("traffic copy: calls are taken with their messages, and skipped without room") {
  TrafficCopy copy(1);
  const Inspected request(plain);
  copy.add(CopiedMethod::decide_json, "{}", copied_at);
  CHECK(copy.add(request.arrival()) == 1);
  copy.add(CopiedMethod::report, std::string(TrafficCopy::most_text, 'x'), copied_at);
  CopiedTraffic taken;
  copy.take(taken);
  REQUIRE(taken.events.size() == 2);
  CHECK(taken.events[0].call == CopiedMethod::decide_json);
  CHECK(taken.events[0].at == copied_at);
  CHECK(taken.body_of(taken.events[0]) == "{}");
  CHECK_FALSE(taken.events[1].call);
  CHECK(taken.skipped == 1);
}

TEST_CASE("traffic copy: one thread adds while another one takes") {
  constexpr std::uint64_t count = 20'000;
  TrafficCopy copy(1);
  std::thread worker([&copy] {
    const Inspected request(plain);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (const std::uint64_t number = copy.add(request.arrival()); number != 0)
        copy.add({.number = number});
    }
  });
  CopiedTraffic taken;
  std::uint64_t seen = 0, last = 0;
  bool is_in_order = true;
  while (seen < count) {
    copy.take(taken);
    seen += taken.skipped;
    for (const CopiedEvent& event : taken.events) {
      if (event.is_end) continue;
      ++seen;
      is_in_order = is_in_order && event.number == ++last && taken.head_of(event) == plain;
    }
  }
  worker.join();
  CHECK(is_in_order);
}

}  // namespace weir::decision::test
