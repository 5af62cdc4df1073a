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

namespace {

/// A response to a request whose limit charges by the status of gRPC.
struct Outcome {
  explicit Outcome(std::optional<limiter::ChargeByStatus> by = limiter::ChargeByStatus{}) {
    charge.by_grpc_status = std::move(by);
    held.limits = {{}, {.charge = &charge}};
    is_read = meter.prepare(held);
  }
  void begin(std::vector<http::FieldView> fields) { meter.begin(fields); }
  limiter::RequestEnd end(limiter::RequestEnd how = {.status = 200}) {
    meter.add_outcome(how);
    return how;
  }

  limiter::Charge charge;
  limiter::HeldUnits held;
  UsageMeter meter;
  bool is_read = false;
};

constexpr http::FieldView content_type(std::string_view value) {
  return {.name = "content-type", .value = value};
}
constexpr http::FieldView status_field(std::string_view value) {
  return {.name = "Grpc-Status", .value = value};
}

}  // namespace

TEST_CASE("the status of gRPC is that of the trailers, or else that of the head") {
  Outcome outcome;
  REQUIRE(outcome.is_read);
  CHECK(outcome.meter.reads_fields());
  CHECK_FALSE(outcome.meter.reads_body());

  SECTION("trailers, whatever the content type") {
    outcome.begin({content_type("text/plain")});
    CHECK_FALSE(outcome.end().is_grpc);
    outcome.meter.end({{"grpc-status", "16"}});
    CHECK(outcome.end().grpc_status == 16);
  }
  SECTION("a head, also if the body is cut") {
    outcome.begin({status_field("7")});
    CHECK(outcome.end().grpc_status == 7);
  }
  SECTION("both") {
    outcome.begin({status_field("0")});
    outcome.meter.end({{"GRPC-STATUS", "16"}});
    CHECK(outcome.end().grpc_status == 16);
  }
  SECTION("text that is no status is UNKNOWN") {
    outcome.begin({status_field("ok")});
    CHECK(outcome.end().grpc_status == 2);
  }
  CHECK(outcome.end().is_grpc);
}

TEST_CASE("a response of gRPC without the status has that of its HTTP status when it is complete") {
  Outcome outcome;
  outcome.begin({content_type("application/grpc+proto")});
  CHECK(outcome.end().is_grpc);
  CHECK_FALSE(outcome.end().grpc_status);
  outcome.meter.end({});
  CHECK(outcome.end().grpc_status == 2);
  CHECK(outcome.end({.status = 503}).grpc_status == 14);
  CHECK(outcome.meter.grpc_status(401) == grpc::Status::unauthenticated);
}

TEST_CASE("what is not a response of gRPC has no outcome") {
  const auto is_nothing = [](Outcome& outcome) {
    const limiter::RequestEnd end = outcome.end();
    return !end.is_grpc && !end.grpc_status && !outcome.meter.grpc_status(200);
  };
  Outcome outcome;
  CHECK(is_nothing(outcome));
  outcome.begin({content_type("application/grpc-web")});
  outcome.meter.end({});
  CHECK(is_nothing(outcome));
  // A call keeps the status that its client gets.
  const limiter::RequestEnd call = outcome.end({.status = 200, .grpc_status = 2, .is_grpc = true});
  CHECK(call.grpc_status == 2);

  // No limit charges by it.
  Outcome other(std::nullopt);
  CHECK_FALSE(other.is_read);
  other.begin({status_field("16"), content_type("application/grpc")});
  other.meter.end({});
  CHECK(is_nothing(other));
}

TEST_CASE("the outcome of an earlier request, or of an earlier try, does not count") {
  Outcome outcome;
  outcome.begin({status_field("16")});
  // Weir answered instead.
  CHECK_FALSE(outcome.end({}).is_grpc);
  outcome.begin({content_type("application/json")});
  CHECK_FALSE(outcome.end().is_grpc);
  outcome.begin({status_field("16")});
  CHECK(outcome.meter.has_begun());
  outcome.meter.settle(outcome.held);
  CHECK_FALSE(outcome.meter.has_begun());
  CHECK_FALSE(outcome.end().is_grpc);
}

TEST_CASE("holds without cost_from are not read for") {
  limiter::Charge charge;
  limiter::HeldUnits held;
  held.limits = {{}, {.charge = &charge}};
  UsageMeter meter;
  CHECK_FALSE(meter.prepare(held));
}

}  // namespace weir::decision
