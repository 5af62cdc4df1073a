#include "telemetry/resource.hpp"

#include "catch.hpp"

namespace weir::telemetry {

TEST_CASE("a resource has the service, unless the configuration names another one") {
  CHECK(resource_json({}, "1.2", "i") ==
        R"({"attributes":[{"key":"service.name","value":{"stringValue":"weir"}},)"
        R"({"key":"service.version","value":{"stringValue":"1.2"}},)"
        R"({"key":"service.instance.id","value":{"stringValue":"i"}}]})");
  CHECK(resource_json({{"service.name", "edge"}, {"service.instance.id", "pod\n7"}}, "1.2", "i") ==
        R"({"attributes":[{"key":"service.version","value":{"stringValue":"1.2"}},)"
        R"({"key":"service.name","value":{"stringValue":"edge"}},)"
        R"({"key":"service.instance.id","value":{"stringValue":"pod\n7"}}]})");
}

TEST_CASE("a request has one resource and one scope") {
  CHECK(traces_request("{}", "1.2", "1,2") ==
        R"({"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"weir",)"
        R"("version":"1.2"},"spans":[1,2]}]}]})");
  CHECK(metrics_request("{}", "1.2", "3") ==
        R"({"resourceMetrics":[{"resource":{},"scopeMetrics":[{"scope":{"name":"weir",)"
        R"("version":"1.2"},"metrics":[3]}]}]})");
}

}  // namespace weir::telemetry
