// Words of a report.
#include "replay/report_words.hpp"

#include "catch.hpp"

namespace weir::replay {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("numbers, shares and lengths are written for people") {
  CHECK(grouped(1'234'567) == "1,234,567");
  CHECK(share_of(1, 3) == "33.3 %");
  CHECK(share_of(1, 1'000'000) == "< 0.01 %");
  CHECK(share_of(0, 0) == "0 %");
  CHECK(length_of(minutes(90)) == "90m");
  CHECK(length_of(Duration{1'500}) == "1500us");
  CHECK(percent_of(999'000) == "99.9");
  CHECK(percent_of(1'000'000) == "100");
  CHECK(percent_of(1'000) == "0.1");
  CHECK(percent_of(1) == "0.0001");
}

TEST_CASE("a rate is written as in the configuration") {
  const RateReport one{.rates = {{.count = 2'500, .per = seconds(1)}}};
  CHECK(setting_of(one) == "rate: 2500/1s");
  const RateReport tiers{
      .rates = {{.count = 10, .per = seconds(1)}, {.count = 100, .per = minutes(1)}}};
  CHECK(setting_of(tiers) == "rates: [10/1s, 100/1m]");
  const RateReport slots{.limit = 20};
  CHECK(setting_of(slots) == "limit: 20");
  CHECK(rate_of(slots) == "20 at once");
}

TEST_CASE("a suggestion has a remark if there is no rate, or another setting goes with it") {
  Suggestion suggestion{.policy = "p", .rate = RateReport{}};
  CHECK(remark_of(suggestion).empty());
  suggestion.drops_burst = true;
  CHECK(remark_of(suggestion).starts_with("remove its burst"));
  CHECK(settings_of(suggestion, {.rates = {{.count = 5, .per = seconds(1)}}}) ==
        "rate: 5/1s, no burst");
  suggestion.rate.reset();
  CHECK(remark_of(suggestion) == "no round rate is possible for this policy");
  suggestion.highest = RateReport{
      .rates = {{.count = 10'000, .per = seconds(1)}}, .denied = 1'200, .denied_keys = 2};
  CHECK(remark_of(suggestion) ==
        "no round rate up to 10000/1s denies few enough: it denies 1,200 requests, of 2 keys");
  suggestion.highest = RateReport{.limit = 50};
  CHECK(remark_of(suggestion).starts_with("no round limit up to 50 at once denies few enough"));
}

TEST_CASE("the heading of suggestions has the share") {
  CHECK(heading_of({}).ends_with("denies no request"));
  CHECK(heading_of({.max_denied = 1'000}).ends_with("requests of at most 0.1 % of its keys"));
  CHECK(heading_of({.policies = {{.policy = "p", .rate = RateReport{.limit = 5}}}}) ==
        "The smallest round rate or limit with which each policy denies no request");
}

TEST_CASE("secrets that differ are mentioned") {
  CHECK(secrets_of({}).empty());
  CHECK(secrets_of({.file = "b", .secret_differs = true}).find("first") != std::string_view::npos);
  CHECK(secrets_of({.file = "b", .secret_differs = true, .has_two_hashes = true}).find("plans") !=
        std::string_view::npos);
}

}  // namespace weir::replay
