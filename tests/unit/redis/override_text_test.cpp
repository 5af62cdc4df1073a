#include "redis/override_text.hpp"

#include <random>

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "redis/question_command.hpp"
#include "tls/digest.hpp"

namespace weir::redis::test {

using namespace store::test;
using store::Override;

namespace {

constexpr Hash128 text_identity{.low = 0xabc, .high = 0x1234567890abcdef};

Override numbers(Instant until) {
  return {.policy = "per user",
          .numbers = policy(rules::Algorithm::leaky_bucket, 3, 3s),
          .until = until,
          .details = R"("queue":2)"};
}

std::string text_of(std::initializer_list<Override> entries) {
  std::string text = "1\n";
  for (const Override& entry : entries)
    text += override_line(entry) + '\n';
  return text;
}

}  // namespace

TEST_CASE("An override is one line with a sum") {
  const std::string rest = "n 1700000010000000 6 3000000 3 3 3000000 3000000\t\"queue\":2";
  const std::string sum = tls::sha1_hex("per user\t" + rest).substr(0, 8);
  CHECK(override_line(numbers(epoch)) == "per user\t" + sum + "\t" + rest);
  CHECK(override_line({.kind = Override::Kind::unlimited}).ends_with("\tu 0 \t"));
  const Override plan{.kind = Override::Kind::plan,
                      .plan = {{.policy = "a", .policy_id = 1},
                               {.policy = "b",
                                .policy_id = 2,
                                .numbers = policy(rules::Algorithm::fixed_window, 3, 3s)}},
                      .details = R"("plan":"gold")"};
  CHECK(
      override_line(plan).ends_with("\tp 0 \x1f"
                                    "a\x1fu\x1f"
                                    "b\x1fn 0 3000000 3 3 3000000\t"
                                    R"("plan":"gold")"));
  CHECK(override_line({.kind = Override::Kind::denied}).starts_with("*\t"));
}

TEST_CASE("A text lists its overrides until they end") {
  const std::string text =
      text_of({numbers(epoch), {.kind = Override::Kind::denied, .details = R"("deny":true)"}});
  const auto before = overrides_in(text, text_identity, epoch - 1us);
  REQUIRE(before.size() == 2);
  CHECK(before[0].policy == "per user");
  CHECK(before[0].details == R"("queue":2)");
  CHECK(before[0].identity == text_identity);
  CHECK(before[1].policy.empty());
  CHECK_FALSE(before[1].is_malformed);
  CHECK(overrides_in(text, text_identity, epoch).size() == 1);
}

TEST_CASE("Each changed byte is noticed, and nothing else happens") {
  const std::string text = text_of({numbers(epoch)});
  std::mt19937_64 random(9);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(random() % 256);
    if (damaged == text) continue;
    CAPTURE(at);
    for (const auto& entry : overrides_in(damaged, text_identity, epoch - 1us))
      CHECK(entry.is_malformed);
  }
  for (const std::string_view other : {"", "1", "2\n", "1\nx", "1\n\n", "1\n\t\t\t\n"}) {
    for (const auto& entry : overrides_in(other, text_identity, epoch))
      CHECK(entry.is_malformed);
  }
}

TEST_CASE("The key of overrides leads back to the identity") {
  std::string key;
  append_overrides_key(key, "weir:", text_identity);
  CHECK(key == "weir:{1234567890abcdef0000000000000abc}:!");
  CHECK(identity_of_overrides_key(key, "weir:") == text_identity);
  for (const std::string_view other :
       {"", "weir:{1234567890abcdef0000000000000abc}:p",
        "other:{1234567890abcdef0000000000000abc}:!", "weir:{1234567890abcdef0000000000000ab}:!",
        "weir:{1234567890abcdef000000000000xabc}:!",
        "weir:{1234567890abcdef0000000000000abc}:!!"}) {
    CAPTURE(other);
    CHECK_FALSE(identity_of_overrides_key(other, "weir:").has_value());
  }
  CHECK(overrides_pattern("w*[x]:") == "w\\*\\[x\\]:{*}:!");
  CHECK(generation_key("weir:") == "weir:!generation");
}

}  // namespace weir::redis::test
