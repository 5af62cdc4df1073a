#include "decision/hold_report.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::decision {
namespace {

using Fields = std::vector<http::FieldView>;

const std::string id_text = "00000000000000010000000000000002";
constexpr Hash128 id{.low = 2, .high = 1};

Result<HoldReport, http::Refusal> read(const Fields& fields) {
  http::RequestView request;
  request.fields = fields;
  return read_hold_report(request);
}

TEST_CASE("a report has the id of a hold and the status of the response") {
  struct Row {
    const char* status;
    std::optional<int> read;
    bool has_left;
  };
  for (const auto& [status, expected, has_left] : {Row{"200", 200, false},
                                                   {"101", 101, false},
                                                   {"599", 599, false},
                                                   {"100", 100, false},
                                                   {"499", std::nullopt, true}}) {
    CAPTURE(status);
    const auto report =
        read({{.name = "weir-HOLD", .value = id_text}, {.name = "Weir-Status", .value = status}});
    REQUIRE(report.has_value());
    CHECK((*report).id == id);
    CHECK((*report).end.status == expected);
    CHECK((*report).end.client_has_left == has_left);
    CHECK_FALSE((*report).end.lease_has_ended);
  }
}

TEST_CASE("a request without the id of a hold is no report") {
  http::RequestView request;
  const Fields others{{.name = "Weir-Status", .value = "200"}, {.name = "Weir-Held", .value = "1"}};
  request.fields = others;
  CHECK_FALSE(is_hold_report(request));
  const Fields report{{.name = "weir-hold", .value = ""}};
  request.fields = report;
  CHECK(is_hold_report(request));
}

TEST_CASE("a report that is not whole is refused") {
  const http::FieldView hold{.name = "Weir-Hold", .value = id_text};
  const http::FieldView status{.name = "Weir-Status", .value = "200"};
  const auto has = [](const char* value) {
    return http::FieldView{.name = "Weir-Status", .value = value};
  };
  const auto of = [](const char* value) {
    return http::FieldView{.name = "Weir-Hold", .value = value};
  };
  for (const Fields& fields : {Fields{hold},
                               {hold, status, status},
                               {hold, has("")},
                               {hold, has("99")},
                               {hold, has("0200")},
                               {hold, has("1000")},
                               {hold, has("2x0")},
                               {hold, has("-20")},
                               {hold, has("200 ")}}) {
    const auto report = read(fields);
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error().status == 400);
    CHECK(report.error().detail.find("Weir-Status") != std::string_view::npos);
  }
  for (const Fields& fields : {Fields{hold, hold, status},
                               {of(""), status},
                               {of("1"), status},
                               {of("0000000000000001000000000000000g"), status},
                               {of("000000000000000100000000000000020"), status}}) {
    const auto report = read(fields);
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error().status == 400);
    CHECK(report.error().detail.find("Weir-Hold") == 0);
  }
}

}  // namespace
}  // namespace weir::decision
