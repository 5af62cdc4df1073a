#include "telemetry/metrics_document.hpp"

#include <string>

#include "catch.hpp"
#include "unit/telemetry/must_read.hpp"

namespace weir::telemetry {
namespace {

MetricsDocument document() {
  return {instant_from_us(1'000'000), instant_from_us(61'000'000)};
}

}  // namespace

TEST_CASE("a counter is a cumulative monotonic sum of integers") {
  auto out = document();
  out.family("weir_requests_total", "counter", "Requests \"answered\".");
  out.sample({{"route", "a\"b"}, {"code", "200"}}, std::uint64_t{7});
  out.sample({}, std::uint64_t{0});
  CHECK(out.points() == 2);
  CHECK(out.take() ==
        R"({"name":"weir_requests_total","description":"Requests \"answered\".",)"
        R"("sum":{"dataPoints":[{"attributes":[{"key":"route","value":{"stringValue":"a\"b"}},)"
        R"({"key":"code","value":{"stringValue":"200"}}],"startTimeUnixNano":"1000000000",)"
        R"("timeUnixNano":"61000000000","asInt":"7"},{"attributes":[],)"
        R"("startTimeUnixNano":"1000000000","timeUnixNano":"61000000000","asInt":"0"}],)"
        R"("aggregationTemporality":2,"isMonotonic":true}})");
}

TEST_CASE("a gauge has no start, and its unit follows from the name") {
  auto out = document();
  out.family("process_resident_memory_bytes", "gauge", "Memory.");
  out.sample({}, std::int64_t{-5});
  CHECK(out.take() == R"({"name":"process_resident_memory_bytes","description":"Memory.",)"
                      R"("unit":"By","gauge":{"dataPoints":[{"attributes":[],)"
                      R"("timeUnixNano":"61000000000","asInt":"-5"}]}})");
}

TEST_CASE("a duration is a number of seconds") {
  auto out = document();
  out.family("process_cpu_seconds_total", "counter", "CPU.");
  out.sample({}, Duration{2'500});
  const std::string text = out.take();
  CAPTURE(text);
  CHECK(text.find(R"("unit":"s")") != std::string::npos);
  CHECK(text.find(R"("asDouble":0.0025})") != std::string::npos);
}

TEST_CASE("a histogram has one bucket more than bounds, each count for itself") {
  auto out = document();
  HistogramSum histogram;
  histogram.buckets[0] = 3;
  histogram.buckets[2] = 1;
  histogram.buckets.back() = 2;
  histogram.sum_us = 61'000'300;
  out.family("weir_request_duration_seconds", "histogram", "Time.");
  out.histogram({{"route", "r"}}, histogram);
  const auto json = test::must_read(out.take());
  const json::Value* const data = json.find("histogram");
  REQUIRE(data != nullptr);
  CHECK(data->find("aggregationTemporality")->text == "2");
  CHECK(data->find("isMonotonic") == nullptr);
  const json::Value& point = data->find("dataPoints")->members.front().value;
  CHECK(point.find("count")->text == "6");
  CHECK(point.find("sum")->text == "61.0003");
  CHECK(point.find("startTimeUnixNano")->text == "1000000000");
  const auto& counts = point.find("bucketCounts")->members;
  const auto& bounds = point.find("explicitBounds")->members;
  REQUIRE(counts.size() == bounds.size() + 1);
  CHECK(bounds.size() == DurationHistogram::bounds_us.size());
  CHECK(bounds.front().value.text == "0.0001");
  CHECK(bounds.back().value.text == "30");
  CHECK(counts[0].value.text == "3");
  CHECK(counts[0].value.kind == json::Kind::string);
  CHECK(counts[2].value.text == "1");
  CHECK(counts.back().value.text == "2");
}

TEST_CASE("families are separated, and one without samples is left out") {
  auto out = document();
  out.family("a", "gauge", "A.");
  out.family("b", "gauge", "B.");
  out.sample({}, std::uint64_t{1});
  out.family("c", "counter", "C.");
  out.family("d", "gauge", "D.");
  out.sample({}, std::uint64_t{2});
  out.family("e", "gauge", "E.");
  const auto json = test::must_read("[" + out.take() + "]");
  REQUIRE(json.members.size() == 2);
  CHECK(json.members[0].value.find("name")->text == "b");
  CHECK(json.members[1].value.find("name")->text == "d");
}

}  // namespace weir::telemetry
