#include "http/ratelimit_fields.hpp"

#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::http {
namespace {

using namespace std::chrono_literals;

/// A report that owns its items.
struct Reported {
  std::string policy;
  std::string name;
  PolicyReport report;

  Reported(std::string_view named, std::int64_t limit, std::int64_t remaining, Duration reset_after,
           Duration more_after, Duration refill = 60s)
      : policy(policy_item(named, limit, refill)), name(name_item(named)) {
    report = {policy, name, limit, remaining, reset_after, more_after};
  }
};

std::string fields_for(std::vector<PolicyReport> reports, ResponseFieldOptions options = {}) {
  FieldSection out;
  add_rate_limit_fields(out, reports, options);
  return lines_of(out);
}

TEST_CASE("the example of the documentation") {
  const Reported user{"per_user", 600, 599, 100ms, 100ms, 60s};
  const Reported client{"per_client", 20, 19, 100ms, 100ms, 2s};
  CHECK(fields_for({user.report, client.report}) ==
        "RateLimit-Policy: \"per_user\";q=600;w=60, \"per_client\";q=20;w=2\r\n"
        "RateLimit: \"per_user\";r=599;t=1, \"per_client\";r=19;t=1\r\n"
        "RateLimit-Limit: 20\r\n"
        "RateLimit-Remaining: 19\r\n"
        "RateLimit-Reset: 1\r\n");
}

TEST_CASE("the numbers of an override replace those of the policy") {
  Reported user{"per_user", 600, 599, 100ms, 100ms, 60s};
  user.report.limit = 5;
  user.report.remaining = 4;
  user.report.refill = 1500ms;
  CHECK(fields_for({user.report}, {.legacy = LegacyFields::none}) ==
        "RateLimit-Policy: \"per_user\";q=5;w=2\r\n"
        "RateLimit: \"per_user\";r=4;t=1\r\n");
  user.report.refill = 0s;
  CHECK(fields_for({user.report}, {.legacy = LegacyFields::none})
            .starts_with("RateLimit-Policy: \"per_user\";q=5;qu=\"concurrent-requests\"\r\n"));
}

TEST_CASE("a policy is listed once, with the report closest to exhaustion") {
  const Reported other{"other", 10, 5, 60s, 60s};
  const Reported more{"p", 5, 4, 3600s, 3600s};
  const Reported less{"p", 5, 2, 1800s, 1800s};
  const Reported later{"p", 5, 2, 3600s, 3600s};
  const std::string policies = "RateLimit-Policy: \"p\";q=5;w=60, \"other\";q=10;w=60\r\n";
  const ResponseFieldOptions standard{.legacy = LegacyFields::none};
  CHECK(fields_for({less.report, other.report, more.report}, standard) ==
        policies + "RateLimit: \"p\";r=2;t=1800, \"other\";r=5;t=60\r\n");
  CHECK(fields_for({more.report, later.report, other.report, less.report}, standard) ==
        policies + "RateLimit: \"p\";r=2;t=3600, \"other\";r=5;t=60\r\n");
  CHECK(fields_for({less.report, other.report, less.report}, standard) ==
        policies + "RateLimit: \"p\";r=2;t=1800, \"other\";r=5;t=60\r\n");
}

TEST_CASE("options choose the fields") {
  const Reported daily{"daily", 1000, 100, 36'000s, 0s, 86'400s};
  const std::string standard =
      "RateLimit-Policy: \"daily\";q=1000;w=86400\r\nRateLimit: \"daily\";r=100\r\n";
  CHECK(fields_for({daily.report}, {.legacy = LegacyFields::none}) == standard);
  CHECK(
      fields_for({daily.report}, {.legacy = LegacyFields::x_ratelimit}) ==
      standard +
          "X-RateLimit-Limit: 1000\r\nX-RateLimit-Remaining: 100\r\nX-RateLimit-Reset: 36000\r\n");
  CHECK(fields_for({daily.report}, {.standard = false}) ==
        "RateLimit-Limit: 1000\r\nRateLimit-Remaining: 100\r\nRateLimit-Reset: 36000\r\n");
  CHECK(fields_for({daily.report}, {.standard = false, .legacy = LegacyFields::none}).empty());
  CHECK(fields_for({}).empty());
}

TEST_CASE("the partition key is a byte sequence of the hash, in both fields, of each policy") {
  Reported daily{"daily", 1000, 100, 36'000s, 5s, 86'400s};
  Reported open{"open", 10, 10, 0s, 0s, 60s};
  // The bytes 00 01 .. 0f, and 16 times ff.
  daily.report.partition = {.low = 0x08090a0b0c0d0e0f, .high = 0x0001020304050607};
  open.report.partition = {.low = ~std::uint64_t{0}, .high = ~std::uint64_t{0}};
  CHECK(fields_for({daily.report, open.report},
                   {.legacy = LegacyFields::none, .partition_key = true}) ==
        "RateLimit-Policy: \"daily\";q=1000;w=86400;pk=:AAECAwQFBgcICQoLDA0ODw==:, "
        "\"open\";q=10;w=60;pk=://///////////////////w==:\r\n"
        "RateLimit: \"daily\";r=100;t=5;pk=:AAECAwQFBgcICQoLDA0ODw==:, "
        "\"open\";r=10;pk=://///////////////////w==:\r\n");
}

TEST_CASE("times are rounded up and never to zero") {
  struct Row {
    Duration exact;
    const char* seconds;
  };
  for (const Row row :
       {Row{1us, "1"}, Row{999'999us, "1"}, Row{1s, "1"}, Row{1'000'001us, "2"}, Row{12s, "12"}}) {
    INFO(row.exact.count());
    const Reported policy{"p", 10, 0, row.exact, row.exact};
    const std::string text = fields_for({policy.report});
    CHECK(text.find(std::string{";r=0;t="} + row.seconds + "\r\n") != std::string::npos);
    CHECK(text.find(std::string{"RateLimit-Reset: "} + row.seconds + "\r\n") != std::string::npos);
  }
}

TEST_CASE("t is left out when nothing more is to come") {
  const Reported whole{"p", 10, 10, 0us, 0us};
  CHECK(fields_for({whole.report}, {.legacy = LegacyFields::none}) ==
        "RateLimit-Policy: \"p\";q=10;w=60\r\nRateLimit: \"p\";r=10\r\n");
}

/// Which of two policies the older fields speak of, by limit.
std::string limit_told(const Reported& a, const Reported& b) {
  const std::string text = fields_for({a.report, b.report}, {.standard = false});
  const std::string_view prefix = "RateLimit-Limit: ";
  return text.substr(prefix.size(), text.find('\r') - prefix.size());
}

TEST_CASE("the older fields describe the policy closest to exhaustion") {
  CHECK(limit_told({"a", 100, 50, 1s, 1s}, {"b", 10, 4, 1s, 1s}) == "10");
  CHECK(limit_told({"a", 10, 4, 1s, 1s}, {"b", 100, 50, 1s, 1s}) == "10");
  CHECK(limit_told({"a", 1000, 0, 1s, 1s}, {"b", 2, 1, 9s, 1s}) == "1000");
  // the same share: the latest reset, and of two equal ones the first
  CHECK(limit_told({"a", 100, 50, 1s, 1s}, {"b", 10, 5, 2s, 1s}) == "10");
  CHECK(limit_told({"a", 100, 50, 2s, 1s}, {"b", 10, 5, 1s, 1s}) == "100");
  CHECK(limit_told({"a", 100, 50, 2s, 1s}, {"b", 10, 5, 2s, 1s}) == "100");
  // shares whose products need more than 64 bits, and differ by one unit
  constexpr std::int64_t huge = std::int64_t{1} << 53;
  CHECK(limit_told({"a", huge, huge - 1, 1s, 1s}, {"b", huge - 1, huge - 3, 1s, 1s}) ==
        std::to_string(huge - 1));
  CHECK(limit_told({"a", huge, huge - 2, 1s, 1s}, {"b", huge - 1, huge - 2, 9s, 1s}) ==
        std::to_string(huge));
}

TEST_CASE("structured integers stop at fifteen digits") {
  constexpr std::int64_t huge = std::int64_t{1} << 53;
  CHECK(policy_item("p", huge, 1s) == "\"p\";q=999999999999999;w=1");
  const Reported policy{"p", huge, huge, 0s, 0s};
  CHECK(fields_for({policy.report}).find("RateLimit: \"p\";r=999999999999999\r\n") !=
        std::string::npos);
}

TEST_CASE("names are structured strings") {
  CHECK(name_item("per user") == "\"per user\"");
  CHECK(name_item(R"(a"b\c)") == R"("a\"b\\c")");
  CHECK(name_item("") == "\"\"");
  CHECK(policy_item("a\"", 5, 1us) == R"("a\"";q=5;w=1)");
  CHECK(policy_item("a", 5, 1'500ms) == R"("a";q=5;w=2)");
  CHECK(policy_item("a", 5, 0us) == R"("a";q=5;qu="concurrent-requests")");
  CHECK(policy_item("a", 5, 1us) == R"("a";q=5;w=1)");
}

std::string retry_after(std::int64_t seconds, RetryAfterForm form, Instant now) {
  FieldSection out;
  add_retry_after(out, seconds, form, now);
  return lines_of(out);
}

TEST_CASE("Retry-After in seconds") {
  CHECK(retry_after(12, RetryAfterForm::seconds, Instant{}) == "Retry-After: 12\r\n");
}

TEST_CASE("the instant of Retry-After is the one that the client reads") {
  const Instant half_past = instant_from_us(1'500'000);
  CHECK(retry_instant(12, RetryAfterForm::seconds, half_past) == instant_from_us(13'500'000));
  CHECK(retry_instant(12, RetryAfterForm::http_date, half_past) == instant_from_us(14'000'000));
  CHECK(retry_instant(INT64_MAX, RetryAfterForm::seconds, half_past) > half_past);
}

TEST_CASE("Retry-After as a date is not earlier than the instant") {
  const Instant on_the_second = instant_from_us(784'111'777'000'000);
  CHECK(retry_after(0, RetryAfterForm::http_date, on_the_second) ==
        "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  CHECK(retry_after(3, RetryAfterForm::http_date, on_the_second) ==
        "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n");
  CHECK(retry_after(3, RetryAfterForm::http_date, on_the_second + 1us) ==
        "Retry-After: Sun, 06 Nov 1994 08:49:41 GMT\r\n");
  CHECK(retry_after(std::numeric_limits<std::int64_t>::max(), RetryAfterForm::http_date,
                    on_the_second)
            .size() == 44);
}

TEST_CASE("Retry-After is rounded up, never zero, and jittered within bounds") {
  CHECK(retry_after_seconds(0us, 0us, 7) == 1);
  CHECK(retry_after_seconds(1us, 0us, 7) == 1);
  CHECK(retry_after_seconds(12s, 0us, 7) == 12);
  CHECK(retry_after_seconds(12'000'001us, 0us, 7) == 13);
  CHECK(retry_after_seconds(12s, 5s, 0) == 12);
  CHECK(retry_after_seconds(12s, 5s, 5'000'000) == 17);
  CHECK(retry_after_seconds(12s, 5s, 5'000'001) == 12);
  bool earliest = false;
  bool latest = false;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto seconds = retry_after_seconds(12s, 5s, i * 0x9e3779b97f4a7c15);
    REQUIRE(seconds >= 12);
    REQUIRE(seconds <= 17);
    earliest |= seconds == 13;
    latest |= seconds == 17;
  }
  CHECK(earliest);
  CHECK(latest);
}

}  // namespace
}  // namespace weir::http
