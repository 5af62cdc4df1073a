#include "app/webhook_report.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

const Instant report_epoch = instant_from_us(1'700'000'000'000'000);

}  // namespace

TEST_CASE("a failure of the webhook is logged once until an event is delivered") {
  WebhookReport report;
  CHECK_FALSE(report.delivered());
  const auto line = report.failed("cannot connect: Connection refused", report_epoch);
  REQUIRE(line);
  CHECK(*line == LogLine{LogLine::Level::warning,
                         "events.webhook: cannot deliver an event: cannot connect: Connection "
                         "refused; it is sent again for 5 minutes"});
  CHECK_FALSE(report.failed("it answered 503", report_epoch + 2h));
  CHECK_FALSE(report.rejected("it answered 404", report_epoch + 2h));
  const auto over = report.delivered();
  REQUIRE(over);
  CHECK(*over == LogLine{LogLine::Level::info, "events.webhook: events are delivered again"});
  CHECK_FALSE(report.delivered());
}

TEST_CASE("a receiver that fails now and then is logged once a minute") {
  WebhookReport report;
  CHECK(report.rejected("it answered 404", report_epoch));
  CHECK(report.delivered());
  CHECK_FALSE(report.failed("it answered 503", report_epoch + 1min - 1us));
  CHECK_FALSE(report.delivered());
  CHECK(report.failed("it answered 503", report_epoch + 1min));
  CHECK(report.delivered());
}

TEST_CASE("events that find no room are logged once until one is delivered") {
  WebhookReport report;
  CHECK(report.dropped());
  CHECK_FALSE(report.dropped());
  CHECK(report.delivered());
  CHECK(report.dropped());
}

}  // namespace weir::app
