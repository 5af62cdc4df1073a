// The cost that the response of an upstream states, for every way in which the response can end.
#include "decision/usage_meter.hpp"

#include "catch.hpp"

namespace weir::decision {
namespace {

usage::UsageSource field_source(const char* name) {
  return {.field = name};
}
usage::UsageSource json_source(const char* pointer) {
  return {.pointers = {*usage::JsonPointer::parse(pointer)}};
}

struct Metered {
  explicit Metered(std::vector<usage::UsageSource> sources)
      : charge{.cost_from = *usage::UsagePlan::compile(sources)} {
    held.limits = {{}, {.charge = &charge}};
    has_plan = meter.prepare(held);
  }
  std::optional<usage::Usage> result() {
    meter.settle(held);
    CHECK_FALSE(held.limits[0].stated);
    return held.limits[1].stated;
  }

  limiter::Charge charge;
  limiter::HeldUnits held;
  UsageMeter meter;
  bool has_plan = false;
};

const std::vector<http::FieldView> json{{.name = "Content-Type", .value = "application/json"}};

}  // namespace

TEST_CASE("the cost is read from a field, from the body, or from a trailer field") {
  Metered metered({field_source("x-cost"), json_source("/usage")});
  REQUIRE(metered.has_plan);
  CHECK(metered.meter.reads_body());
  CHECK(metered.meter.reads_fields());

  SECTION("a field, and the body is not read") {
    const std::vector<http::FieldView> fields{json[0], {.name = "X-Cost", .value = "5"}};
    metered.meter.begin(fields);
    metered.meter.feed(R"({"usage": 7})");
    metered.meter.end({});
    CHECK(metered.result()->cost == 5);
  }
  SECTION("the body, in any pieces") {
    const std::string_view body = R"({"usage": 7})";
    const auto cut = GENERATE(range<std::size_t>(0, 12));
    metered.meter.begin(json);
    metered.meter.feed(body.substr(0, cut));
    metered.meter.feed(body.substr(cut));
    metered.meter.end({});
    CHECK(metered.result()->cost == 7);
  }
  SECTION("a trailer field, which has precedence over the body as in the list") {
    metered.meter.begin(json);
    metered.meter.feed(R"({"usage": 7})");
    metered.meter.end({{"x-other", "1"}, {"X-Cost", "9"}});
    CHECK(metered.result()->cost == 9);
  }
}

TEST_CASE("a response that states nothing, was cut off or is compressed has no cost") {
  Metered metered({json_source("/usage")});
  CHECK_FALSE(metered.meter.reads_fields());
  std::vector<http::FieldView> fields = json;

  SECTION("no response") {
    CHECK_FALSE(metered.result());
    return;
  }
  bool is_complete = true;
  SECTION("nothing in the body") {
    metered.meter.begin(fields);
    metered.meter.feed("{}");
    metered.meter.end({});
  }
  SECTION("a content coding") {
    fields.push_back({.name = "Content-Encoding", .value = "gzip"});
    metered.meter.begin(fields);
    metered.meter.feed(R"({"usage": 7})");
    metered.meter.end({});
  }
  SECTION("cut off") {
    metered.meter.begin(fields);
    metered.meter.feed(R"({"us)");
    is_complete = false;
  }
  const auto stated = metered.result();
  REQUIRE(stated);
  CHECK_FALSE(stated->cost);
  CHECK(stated->is_complete == is_complete);
}

TEST_CASE("a response to another try replaces what the last one stated") {
  Metered metered({json_source("/usage")});
  metered.meter.begin(json);
  metered.meter.feed(R"({"usage": 7})");
  metered.meter.begin(json);
  metered.meter.feed(R"({"usage": 3})");
  metered.meter.end({});
  CHECK(metered.result()->cost == 3);
}

TEST_CASE("holds without cost_from are not read for") {
  limiter::Charge charge;
  limiter::HeldUnits held;
  held.limits = {{}, {.charge = &charge}};
  UsageMeter meter;
  CHECK_FALSE(meter.prepare(held));
}

}  // namespace weir::decision
