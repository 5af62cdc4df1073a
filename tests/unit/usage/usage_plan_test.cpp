#include "usage/usage_plan.hpp"

#include "catch.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

TEST_CASE("a plan keeps the entries in order, and each pointer once") {
  const UsagePlan plan = plan_of({"x-usage-tokens", "/usage/total_tokens", "/a + /b", "/b + /c"});
  REQUIRE(plan.entries().size() == 4);
  REQUIRE(plan.pointers().size() == 4);
  CHECK(plan.entries()[0].field == "x-usage-tokens");
  CHECK(plan.entries()[0].pointers == 0);
  CHECK(plan.entries()[1].pointers == 0b0001);
  CHECK(plan.entries()[2].pointers == 0b0110);
  CHECK(plan.entries()[3].pointers == 0b1100);
}

TEST_CASE("sources that cannot be compiled have a message for the configuration") {
  const auto problem = [](const std::vector<UsageSource>& sources) {
    return UsagePlan::compile(sources).error().message;
  };
  CHECK(problem({}) == "expected at least one source: a header or a JSON pointer");
  CHECK(problem({{}}) == "a source is either a header or one or more JSON pointers");
  CHECK(problem({{.field = "x", .pointers = {pointer("/a")}}}) ==
        "a source is either a header or one or more JSON pointers");
  CHECK(problem({{.pointers = {pointer("/a"), pointer("/b"), pointer("/a")}}}) ==
        "the JSON pointer /a is listed twice in one sum");
  CHECK(problem(std::vector<UsageSource>(UsagePlan::most_entries + 1, {.field = "x"})) ==
        "at most 8 sources are tried");
  UsageSource many;
  for (std::size_t i = 0; i < most_pointers; ++i)
    many.pointers.push_back(pointer("/" + std::to_string(i)));
  CHECK(UsagePlan::compile({{many}}).has_value());
  CHECK(UsagePlan::compile({{many, {.pointers = {pointer("/0")}}}}).has_value());
  many.pointers.push_back(pointer("/x"));
  CHECK(problem({many}) == "at most 32 different JSON pointers are read");
}

}  // namespace
}  // namespace weir::usage
