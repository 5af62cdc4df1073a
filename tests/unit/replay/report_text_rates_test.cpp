// Other rates, suggestions and flips in the text report.
#include "replay/report_text_rates.hpp"

#include "catch.hpp"
#include "sample_rates.hpp"

namespace weir::replay {

TEST_CASE("multiples of the rate have a line each") {
  std::string out;
  append_rates(out, sample_rates().rates);
  CHECK(out == R"(
POLICY ALONE   TIMES  RATE   BURST  DENIED   SHARE  KEYS LIMITED   SHARE
p (plan gold)  x0.5   5/1s      20     300  30.0 %             9  18.0 %
p (plan gold)  x1     10/1s     20      30   3.0 %             2   4.0 %
)");
  out.clear();
  append_rates(out, {});
  CHECK(out.empty());
}

TEST_CASE("a suggestion has the setting, the next smaller rate and remarks") {
  std::string out;
  append_suggestions(out, *sample_rates().suggestions);
  CHECK(out == R"(
The smallest round rate with which each policy denies at most 0.1 % of its requests, and requests of at most 0.1 % of its keys:

POLICY         SET                      DENIED   SHARE  KEYS LIMITED  SHARE
p (plan gold)  rate: 50/1s                   1  0.10 %             0    0 %
p (plan gold)  rate: 10/1s (too small)      30   3.0 %             2  4.0 %

q: no round rate up to 10000/1s denies few enough: it denies 7 requests, of 1 keys
slots: the log has no durations, so no limit can be suggested
)");
}

TEST_CASE("flips have their directions and the keys of each") {
  std::string out;
  append_flips(out, *sample_rates().flips);
  CHECK(out == R"(
Compared with other.yaml: 12 of 1,000 decisions flip
  admitted now, denied by it: 10 (1.0 %)
  denied now, admitted by it: 1 (0.10 %)
  another status: 1 (0.10 %)
  identity_secret differs: identities are compared, and shown, by the hashes of the first configuration

DENIED BY IT  IDENTITY  KEY        FLIPS
p             client    192.0.2.1   <= 9

ADMITTED BY IT  IDENTITY  KEY                                    FLIPS
q               key       hash:00000000000000030000000000000004      1
)");
}

}  // namespace weir::replay
