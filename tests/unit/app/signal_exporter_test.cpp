// An exporter beside a collector that the test controls, over real connections. Pauses are those of
// Retry-After: 0, so no test waits.
#include "app/signal_exporter.hpp"

#include <deque>
#include <string>
#include <utility>

#include "catch.hpp"
#include "unit/proxy/test_server.hpp"

namespace weir::app {
namespace {

using loop::test::FarEnd;
using loop::test::run;
using proxy::test::TestServer;
using std::chrono::hours;

std::string collector_answer(const std::string& status, const std::string& body = "",
                             const std::string& fields = "") {
  return "HTTP/1.1 " + status + "\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class Exporting {
 public:
  explicit Exporting(std::deque<std::string> bodies) : waiting(std::move(bodies)) {
    exporter.use({.url = {.host = "127.0.0.1", .port = server.port(), .target = "/otlp/v1/traces"},
                  .shown = "http://collector",
                  .fields = {{"x-key", Secret("k")}},
                  .timeout = hours(1)},
                 hours(2));
  }
  /// Answers the request that waits, and returns it.
  std::string serve(const std::string& text) {
    run(io);
    const auto far = server.accept();
    REQUIRE(far);
    run(io);
    std::string request = far->receive();
    if (!text.empty()) far->send(text);
    far->end_sending();
    run(io);
    return request;
  }
  bool is_requested() {
    run(io);
    return server.accept() != nullptr;
  }

  asio::io_context io;
  TestServer server;
  MonotonicClock clock;
  Random random{1};
  telemetry::SignalCounters counters;
  std::deque<std::string> waiting;  ///< bodies with one span each
  std::string lines;
  SignalExporter exporter{telemetry::Signal::spans,
                          {.io = io,
                           .clock = clock,
                           .random = random,
                           .counters = counters,
                           .log = [this](const LogLine& line) { lines += line.text + "\n"; },
                           .has_batch = [this] { return !waiting.empty(); },
                           .take = [this] { return take(); }}};

 private:
  ExportBatch take() {
    if (waiting.empty()) return {};
    ExportBatch batch{.body = waiting.front(), .count = 1};
    waiting.pop_front();
    return batch;
  }
};

}  // namespace

TEST_CASE("signal exporter: one request after the other, with its headers") {
  Exporting exporting({"{\"a\":1}", "{\"b\":2}"});
  exporting.exporter.check();
  exporting.exporter.check();
  const std::string request = exporting.serve(collector_answer("200 OK", "{}"));
  CHECK(request.starts_with("POST /otlp/v1/traces HTTP/1.1\r\n"));
  CHECK(request.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
  CHECK(request.find("\r\nx-key: k\r\n") != std::string::npos);
  CHECK(request.ends_with("\r\n\r\n{\"a\":1}"));
  CHECK(exporting.serve(collector_answer("200 OK", "{}")).ends_with("{\"b\":2}"));
  exporting.exporter.check();
  CHECK_FALSE(exporting.is_requested());
  CHECK(exporting.counters.ok.value() == 2);
  CHECK(exporting.counters.failed.value() == 0);
  CHECK(exporting.lines.empty());
}

TEST_CASE("signal exporter: a request is sent again after 503, and given up after 400") {
  Exporting exporting({"{\"a\":1}"});
  exporting.exporter.check();
  CHECK(
      exporting.serve(collector_answer("503 No", "", "Retry-After: 0\r\n")).ends_with("{\"a\":1}"));
  CHECK(exporting.counters.dropped.value() == 0);
  CHECK(exporting.serve(collector_answer("400 No", R"({"message":"bad"})")).ends_with("{\"a\":1}"));
  CHECK_FALSE(exporting.is_requested());
  CHECK(exporting.counters.failed.value() == 2);
  CHECK(exporting.counters.dropped.value() == 1);
  CHECK(exporting.lines ==
        "telemetry.otlp: cannot export spans to http://collector: it answered 503; the request is "
        "sent again for up to a minute\n"
        "telemetry.otlp: cannot export spans to http://collector: it answered 400 (bad); the "
        "spans are dropped\n");
}

TEST_CASE("signal exporter: a partial success is logged and not sent again") {
  Exporting exporting({"{}"});
  exporting.exporter.check();
  exporting.serve(collector_answer(
      "200 OK", R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too long"}})"));
  CHECK_FALSE(exporting.is_requested());
  CHECK(exporting.counters.ok.value() == 1);
  CHECK(exporting.counters.dropped.value() == 1);
  CHECK(exporting.lines == "telemetry.otlp: the collector has rejected 1 of the spans: too long\n");
}

TEST_CASE("signal exporter: the end sends what is left, until a request fails") {
  bool has_finished = false;
  const auto finished = [&] { has_finished = true; };
  SECTION("all are sent") {
    Exporting exporting({"{\"a\":1}", "{\"b\":2}"});
    exporting.exporter.finish(finished);
    exporting.serve(collector_answer("200 OK"));
    CHECK_FALSE(has_finished);
    exporting.serve(collector_answer("200 OK"));
    CHECK(has_finished);
    CHECK(exporting.counters.dropped.value() == 0);
  }
  SECTION("one fails") {
    Exporting exporting({"{\"a\":1}", "{\"b\":2}"});
    exporting.exporter.finish(finished);
    exporting.serve(collector_answer("503 No", "", "Retry-After: 0\r\n"));
    CHECK(has_finished);
    CHECK_FALSE(exporting.is_requested());
    CHECK(exporting.counters.dropped.value() == 1);
  }
  SECTION("the request in progress comes first") {
    Exporting exporting({"{\"a\":1}"});
    exporting.exporter.check();
    exporting.exporter.finish(finished);
    CHECK_FALSE(has_finished);
    exporting.serve(collector_answer("200 OK"));
    CHECK(has_finished);
  }
  SECTION("nothing is left") {
    Exporting exporting({});
    exporting.exporter.finish(finished);
    CHECK(has_finished);
  }
}

TEST_CASE("signal exporter: after stop() it begins again with use()") {
  Exporting exporting({"{\"a\":1}"});
  exporting.exporter.check();
  run(exporting.io);
  exporting.exporter.stop();
  CHECK(exporting.counters.dropped.value() == 1);
  run(exporting.io);
  CHECK(exporting.server.accept() != nullptr);
  exporting.waiting = {"{\"b\":2}"};
  exporting.exporter.check();
  CHECK(exporting.serve(collector_answer("200 OK")).ends_with("{\"b\":2}"));
}

}  // namespace weir::app
