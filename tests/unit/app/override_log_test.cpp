#include "app/override_log.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::app;
using namespace std::literals;

TEST_CASE("Overrides that cannot be read are logged once a minute") {
  OverrideLog log;
  const Instant now = instant_from_us(1'700'000'000'000'000);
  const auto first = log.malformed("per_user", {.low = 0xabc}, now);
  REQUIRE(first.has_value());
  CHECK(first->find("policy per_user for hash:00000000000000000000000000000abc") !=
        std::string::npos);
  CHECK_FALSE(log.malformed("other", {.low = 1}, now + 59s).has_value());
  CHECK(log.malformed("other", {.low = 1}, now + 60s).has_value());
}

TEST_CASE("An override that cannot be read is logged again after an hour, others before") {
  OverrideLog log;
  const Instant now = instant_from_us(1'700'000'000'000'000);
  const auto is_logged = [&](const char* policy, const Hash128& identity, Duration after) {
    return log.malformed(policy, identity, now + after).has_value();
  };
  CHECK(is_logged("a", {.low = 1}, 0s));
  CHECK_FALSE(is_logged("a", {.low = 1}, 1min));
  // It does not delay the line about another one.
  CHECK(is_logged("b", {.low = 1}, 1min));
  CHECK(is_logged("a", {.low = 2}, 2min));
  CHECK(is_logged("a", {.low = 1, .high = 1}, 3min));
  for (const auto& [policy, identity] :
       {std::pair{"a", Hash128{.low = 1}}, {"b", {.low = 1}}, {"a", {.low = 2}}})
    CHECK_FALSE(is_logged(policy, identity, 1h - 1us));
  CHECK(is_logged("a", {.low = 1}, 1h));
  CHECK_FALSE(is_logged("b", {.low = 1}, 1h + 1min - 1us));
  CHECK(is_logged("b", {.low = 1}, 1h + 1min));
  CHECK_FALSE(is_logged("a", {.low = 1}, 2h - 1us));
}
