// The units that are held for a request that may state them.
#include "limiter/reserve.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

usage::UsagePlan max_tokens() {
  const usage::UsageSource source{.pointers = {*usage::JsonPointer::parse("/max_tokens")}};
  return *usage::UsagePlan::compile({&source, 1});
}

}  // namespace

TEST_CASE("a reserve takes the number of a header field, else the default") {
  const Reserve reserve{.units = 20, .header = "x-tokens", .at_most = 100};
  const auto [value, units] = GENERATE(table<const char*, std::int64_t>({
      {"7", 7},
      {" 7 ", 7},
      {"1e1", 10},
      {"100", 100},
      {"101", 100},
      {"0", 1},
      {"-5", 20},
      {"", 20},
      {"many", 20},
      {"7, 8", 20},
      {"99999999999999999999", 100},
  }));
  CAPTURE(value);
  Fixture fixture;
  fixture.header("x-tokens", value);
  CHECK(units_of(reserve, fixture.request, {}) == units);
}

TEST_CASE("a field that is repeated or absent states nothing") {
  const Reserve reserve{.units = 20, .header = "x-tokens"};
  Fixture fixture;
  CHECK(units_of(reserve, fixture.request, {}) == 20);
  fixture.header("x-tokens", "7");
  fixture.header("X-Tokens", "7");
  CHECK(units_of(reserve, fixture.request, {}) == 20);
}

TEST_CASE("a reserve takes the number that the body states, within its bounds") {
  const Reserve reserve{.units = 20, .in_body = max_tokens(), .at_most = 100};
  Fixture fixture;
  const auto units = [&](std::optional<std::int64_t> in_body) {
    return units_of(reserve, fixture.request, in_body);
  };
  CHECK(units({}) == 20);
  CHECK(units(7) == 7);
  CHECK(units(0) == 1);
  CHECK(units(101) == 100);
}

TEST_CASE("only a reserve from a header or a body reads the request") {
  CHECK_FALSE(reads_request(Reserve{.units = 20}));
  CHECK(reads_request(Reserve{.header = "x-tokens"}));
  CHECK(reads_request(Reserve{.in_body = max_tokens()}));
}

TEST_CASE("a reserve is described") {
  CHECK(describe(Reserve{.units = 20}) == "20");
  CHECK(describe(Reserve{.units = 20, .header = "x-tokens"}) ==
        "header x-tokens of the request, else 20");
  CHECK(describe(Reserve{.units = 20, .in_body = max_tokens(), .at_most = 100}) ==
        "JSON /max_tokens of the request, else 20, at most 100");
}

}  // namespace weir::limiter::test
