#include "app/export_report.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

const std::string collector = "http://collector:4318";

}  // namespace

TEST_CASE("a failure of the export is logged once until it changes or ends") {
  ExportReport report(telemetry::Signal::spans);
  CHECK(report.accepted({}) == std::nullopt);
  CHECK(report.failed(collector, "it answered 503", true) ==
        LogLine{LogLine::Level::warning,
                "telemetry.otlp: cannot export spans to http://collector:4318: it answered 503; "
                "the request is sent again for up to a minute"});
  CHECK(report.failed(collector, "it answered 503", true) == std::nullopt);
  CHECK(report.failed(collector, "it answered 400", false) ==
        LogLine{LogLine::Level::warning,
                "telemetry.otlp: cannot export spans to http://collector:4318: it answered 400; "
                "the spans are dropped"});
  CHECK(report.accepted({}) ==
        LogLine{LogLine::Level::info, "telemetry.otlp: spans can be exported again"});
  CHECK(report.accepted({}) == std::nullopt);
  CHECK(report.failed(collector, "it answered 400", false).has_value());
}

TEST_CASE("a partial success is logged once for each message") {
  ExportReport report(telemetry::Signal::metrics);
  using telemetry::PartialSuccess;
  CHECK(report.accepted(PartialSuccess{3, "too old"}) ==
        LogLine{LogLine::Level::warning,
                "telemetry.otlp: the collector has rejected 3 of the metrics: too old"});
  CHECK(report.accepted(PartialSuccess{4, "too old"}) == std::nullopt);
  CHECK(report.accepted(PartialSuccess{4, ""}).has_value());
  CHECK(report.accepted({}) == std::nullopt);
  CHECK(report.accepted(PartialSuccess{3, "too old"}).has_value());
}

TEST_CASE("the reason of a failure has the status and the message of the collector") {
  CHECK(failure_text(400, "") == "it answered 400");
  CHECK(failure_text(400, "bad span") == "it answered 400 (bad span)");
  CHECK(failure_text(302, "") == "it answered 302; redirects are not followed");
}

}  // namespace weir::app
