// Which requests have a span, and the traceparent that their upstream receives.
#include "proxy/request_trace.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent = "00f067aa0ba902b7";
const std::string theirs = "00-" + trace + "-" + parent + "-";

/// A request with a traceparent; empty: with none.
struct Traced {
  explicit Traced(std::string its_traceparent) : traceparent(std::move(its_traceparent)) {
    if (!traceparent.empty())
      request.fields.push_back(
          {.id = http::FieldId::unknown, .name = "traceparent", .value = traceparent});
    request.view.fields = request.fields;
  }
  std::string sent() const { return std::string(request.traceparent); }

  std::string traceparent;
  http::ReceivedRequest request;
  RequestTrace trace;
  Random random{1};
};

constexpr options::Tracing recording{.records = true, .sample = 0, .denied = 0};

}  // namespace

TEST_CASE("request trace: the sampled flag of the client decides, the share only without one") {
  struct Row {
    std::string traceparent;
    double sample;
    options::ParentRule rule;
    bool is_trusted;
    bool is_recorded;
  };
  using enum options::ParentRule;
  for (const Row& row : {
           Row{theirs + "01", 0, all, false, true},
           Row{theirs + "03", 0, all, false, true},
           Row{theirs + "00", 1, all, false, false},
           Row{theirs + "02", 1, all, false, false},
           Row{"", 1, all, false, true},
           Row{"", 0, all, false, false},
           Row{"00-bad", 1, all, false, true},
           // only trusted proxies decide
           Row{theirs + "01", 0, trusted, false, false},
           Row{theirs + "00", 1, trusted, false, true},
           Row{theirs + "01", 0, trusted, true, true},
           Row{theirs + "00", 1, trusted, true, false},
       }) {
    CAPTURE(row.traceparent, row.sample, row.is_trusted);
    Traced traced(row.traceparent);
    traced.request.peer_is_trusted = row.is_trusted;
    options::Tracing tracing = recording;
    tracing.sample = row.sample;
    tracing.parent = row.rule;
    traced.trace.begin(traced.request, tracing, traced.random);
    CHECK(traced.request.traceparent.empty() != row.is_recorded);
    CHECK(traced.trace.end(traced.request, false, tracing, traced.random) == row.is_recorded);
  }
}

TEST_CASE("request trace: a span in the client's trace is the parent of the upstream") {
  Traced traced(theirs + "01");
  traced.trace.begin(traced.request, recording, traced.random);
  const std::string sent = traced.sent();
  CHECK(sent.substr(0, 36) == "00-" + trace + "-");
  CHECK(sent.substr(36, 16) != parent);
  CHECK(sent.substr(52) == "-01");
  CHECK(traced.request.continues_trace);
  const auto span = traced.trace.span(traced.request, {}, nullptr);
  CHECK(span.trace_id == trace);
  CHECK(span.parent_id == parent);
  CHECK(span.span_id == sent.substr(36, 16));
  CHECK(span.trace_flags == 1);
}

TEST_CASE("request trace: a request without a trace begins one, which is sampled if recorded") {
  struct Row {
    bool generates;
    bool records;
    double sample;
    std::string end;  ///< of the traceparent; empty: none is sent
  };
  for (const Row& row : {
           Row{true, false, 1, "-01"},
           Row{true, true, 1, "-01"},
           Row{true, true, 0, "-00"},
           Row{false, true, 1, "-01"},
           Row{false, true, 0, ""},
       }) {
    CAPTURE(row.generates, row.records, row.sample);
    Traced traced("");
    const options::Tracing tracing{
        .generates = row.generates, .records = row.records, .sample = row.sample};
    traced.trace.begin(traced.request, tracing, traced.random);
    const std::string sent = traced.sent();
    CHECK(sent.substr(sent.empty() ? 0 : 52) == row.end);
    CHECK_FALSE(traced.request.continues_trace);
    if (row.records && row.sample == 1)
      CHECK(traced.trace.span(traced.request, {}, nullptr).parent_id.empty());
  }
}

TEST_CASE("request trace: a denied request gets its span at the end, whatever the client says") {
  struct Row {
    std::string traceparent;
    double denied;
    bool generates;
    bool is_denied;
    bool is_recorded;
  };
  for (const Row& row : {
           Row{"", 1, false, true, true},
           Row{theirs + "00", 1, false, true, true},
           Row{"", 1, true, true, true},
           Row{"", 1, false, false, false},
           Row{"", 0, false, true, false},
       }) {
    CAPTURE(row.traceparent, row.denied, row.generates, row.is_denied);
    Traced traced(row.traceparent);
    options::Tracing tracing = recording;
    tracing.denied = row.denied;
    tracing.generates = row.generates;
    traced.trace.begin(traced.request, tracing, traced.random);
    CHECK(traced.trace.end(traced.request, row.is_denied, tracing, traced.random) ==
          row.is_recorded);
    if (!row.is_recorded) continue;
    const auto span = traced.trace.span(traced.request, {}, nullptr);
    CHECK(span.trace_id.size() == 32);
    CHECK((span.parent_id == parent) == !row.traceparent.empty());
    CHECK(span.trace_flags == 1);
  }
}

TEST_CASE("request trace: the share is one of many requests") {
  options::Tracing tracing = recording;
  tracing.sample = 0.25;
  Random random(7);
  int recorded = 0;
  for (int i = 0; i < 4'000; ++i) {
    Traced traced("");
    traced.trace.begin(traced.request, tracing, random);
    recorded += traced.request.traceparent.empty() ? 0 : 1;
  }
  CHECK(recorded > 900);
  CHECK(recorded < 1'100);
}

TEST_CASE("request trace: an exchange puts its span into the queue of its worker") {
  Exchanged exchanged([](Configuration& settings) {
    settings.proxy.tracing = {.records = true, .sample = 0, .denied = 1};
  });
  exchanged.world.spans.set_most(8);
  exchanged.ask("GET /fixed");
  exchanged.ask("GET /limited");
  CHECK(exchanged.world.spans.size() == 0);
  exchanged.ask("GET /limited");
  std::string span;
  REQUIRE(exchanged.world.spans.take(8, span) == 1);
  CAPTURE(span);
  for (const char* const part :
       {R"("name":"GET /limited")", R"("rate_limit.decision","value":{"stringValue":"denied"})",
        R"("rate_limit.policy","value":{"stringValue":"one"})",
        R"("http.response.status_code","value":{"intValue":"429"})"})
    CHECK(span.find(part) != std::string::npos);
}

TEST_CASE("request trace: nothing is made while spans are off") {
  Exchanged exchanged;
  exchanged.world.spans.set_most(8);
  exchanged.ask("GET /limited");
  exchanged.ask("GET /limited");
  CHECK(exchanged.response().status == 429);
  CHECK(exchanged.world.spans.size() == 0);
}

}  // namespace weir::proxy::test
