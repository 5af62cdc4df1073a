// The section `telemetry`: what the exporter and the workers get of it.
#include "catch.hpp"
#include "unit/config/files.hpp"

namespace weir::config {
namespace {

using test::Files;
using test::must_load;

std::shared_ptr<const Config> with_otlp(const std::string& keys, const Environment& environment) {
  return must_load("telemetry: {otlp: {" + keys + "}}\n" + test::route_tail, environment);
}

std::shared_ptr<const Config> with_otlp(const std::string& keys) {
  return with_otlp(keys, test::environment({}, "/etc"));
}

}  // namespace

TEST_CASE("without telemetry nothing is recorded") {
  const auto config = must_load(test::route_tail, test::environment({}, "/etc"));
  CHECK_FALSE(config->otlp.has_value());
  CHECK_FALSE(config->proxy.tracing.records);
  CHECK_FALSE(config->proxy.tracing.is_on());
}

TEST_CASE("an endpoint alone exports spans and metrics") {
  const auto config = with_otlp("endpoint: \"https://c.example/otlp/\"");
  REQUIRE(config->otlp.has_value());
  CHECK(config->otlp->url ==
        http::Url{.is_secure = true, .host = "c.example", .port = 443, .target = "/otlp"});
  CHECK(config->otlp->spans == options::SpanExport{});
  CHECK(config->otlp->metrics == options::MetricExport{});
  CHECK(config->proxy.tracing.records);
  CHECK(config->proxy.tracing.denied == 1);
}

TEST_CASE("spans may be off, and their shares set") {
  CHECK_FALSE(with_otlp("endpoint: \"http://[::1]:1\", spans: off")->proxy.tracing.records);
  const auto config = with_otlp(
      "endpoint: \"http://[::1]:1\", metrics: off, "
      "spans: {sample: 0, denied: 0.5, parent: trusted, interval: 1s, batch: 10, queue: 20}");
  CHECK(config->otlp->url.target.empty());
  CHECK_FALSE(config->otlp->metrics.has_value());
  CHECK(config->proxy.tracing.sample == 0);
  CHECK(config->proxy.tracing.denied == 0.5);
  CHECK(config->proxy.tracing.parent == options::ParentRule::trusted);
  CHECK(config->otlp->spans == options::SpanExport{std::chrono::seconds(1), 10, 20});
}

TEST_CASE("headers are secrets, also from files, and are not shown") {
  const Files directory;
  directory.write("key", "MARKER-file\n");
  const auto config = with_otlp(
      "endpoint: \"http://127.0.0.1:1\", resource: {service.name: edge, pod: \"${POD}\"}, "
      "headers: {authorization: file:key, x-key: MARKER-text}",
      directory.environment({{"POD", "7"}}));
  REQUIRE(config->otlp->headers.size() == 2);
  CHECK(config->otlp->headers[0].first == "authorization");
  CHECK(config->otlp->headers[0].second.reveal() == "MARKER-file");
  CHECK(config->otlp->headers[1].second.reveal() == "MARKER-text");
  CHECK(config->presentation.document.find("MARKER") == std::string::npos);
  CHECK(config->otlp->resource[1] == std::pair<std::string, std::string>("pod", "7"));
}

}  // namespace weir::config
