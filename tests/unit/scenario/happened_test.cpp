// The comparison of what happened with what was expected.
#include "scenario/happened.hpp"

#include "catch.hpp"

namespace weir::scenario {
namespace {

using namespace std::chrono_literals;

Happened denied_login() {
  Happened happened{.status = 429,
                    .decision = "denied",
                    .policy = "logins",
                    .route = "login",
                    .plan = {},
                    .upstream = "api",
                    .retry_after = 59,
                    .delay = 250ms,
                    .left = 0,
                    .remaining = {{"logins", 0}, {"daily", 7}},
                    .charged = {{"daily", 1}},
                    .head =
                        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 59\r\n"
                        "Vary: a\r\nVary: b\r\n\r\n",
                    .body = "slow"};
  return happened;
}

}  // namespace

TEST_CASE("what is not expected is not compared, and what holds is no difference") {
  CHECK(differences({}, denied_login()).empty());
  const Expectation all{.status = 429,
                        .decision = "denied",
                        .policy = "logins",
                        .route = "login",
                        .plan = "",
                        .upstream = "api",
                        .retry_after = 59,
                        .delay = 250ms,
                        .remaining = {{"", 0}, {"daily", 7}},
                        .charged = {{"daily", 1}, {"logins", 0}},
                        .fields = {{"retry-after", "59"}, {"VARY", "a, b"}, {"x-none", {}}},
                        .body = "slow"};
  CHECK(differences(all, denied_login()).empty());
}

TEST_CASE("every difference names what was expected and what was found") {
  const Expectation all{.status = 200,
                        .decision = "",
                        .policy = "",
                        .route = "",
                        .plan = "gold",
                        .upstream = "",
                        .retry_after = std::optional<std::int64_t>(),
                        .delay = 0s,
                        .remaining = {{"", 1}, {"daily", 1}, {"other", 1}},
                        .charged = {{"logins", 1}, {"daily", 0}},
                        .fields = {{"retry-after", {}}, {"x-none", "1"}},
                        .body = "fast"};
  std::vector<std::string> found;
  for (const Difference& one : differences(all, denied_login()))
    found.push_back(one.what + ": " + one.expected + " / " + one.found);
  CHECK(found == std::vector<std::string>{
                     "status: 200 / 429", "decision: none / denied", "policy: none / logins",
                     "route: none / login", "upstream: none / api", "plan: gold / none",
                     "retry_after: none / 59", "delay: 0s / 250ms", "remaining: 1 / 0",
                     "remaining of daily: 1 / 7", "remaining of other: 1 / none",
                     "charged to logins: 1 / 0", "charged to daily: 0 / 1",
                     "header retry-after: no such field / \"59\"",
                     "header x-none: \"1\" / no such field", "body: \"fast\" / \"slow\""});
}

}  // namespace weir::scenario
