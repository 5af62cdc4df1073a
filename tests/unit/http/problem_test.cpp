#include "http/problem.hpp"

#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"

namespace weir::http {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST_CASE("the body of a denial is the documented one") {
  std::string out;
  const std::vector<std::string_view> violated{"per_user"};
  append_quota_exceeded(out, 429, violated, 12);
  CHECK(
      out ==
      R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too Many Requests",)"
      R"("status":429,"detail":"quota \"per_user\" exceeded; retry in 12 s","violated-policies":["per_user"],)"
      R"("retry_after":12})");
}

TEST_CASE("a denial by hidden policies names none") {
  std::string out;
  append_quota_exceeded(out, 429, {}, 3);
  const auto body = nlohmann::json::parse(out);
  CHECK(body["detail"] == "quota exceeded; retry in 3 s");
  CHECK(body["violated-policies"] == nlohmann::json::array());
}

TEST_CASE("several violated policies, and names that need escapes") {
  std::string out;
  const std::vector<std::string_view> violated{"a\"b", "c\\"};
  append_quota_exceeded(out, 503, violated, 1);
  const auto body = nlohmann::json::parse(out);
  CHECK(body["title"] == "Service Unavailable");
  CHECK(body["status"] == 503);
  CHECK(body["detail"] == R"(quotas "a"b", "c\" exceeded; retry in 1 s)");
  CHECK(body["violated-policies"] == nlohmann::json::array({"a\"b", "c\\"}));
}

TEST_CASE("a cost that can never pass says so and tells no time") {
  std::string out;
  const std::vector<std::string_view> violated{"p"};
  append_quota_exceeded(out, 429, violated, std::nullopt);
  const auto body = nlohmann::json::parse(out);
  CHECK_FALSE(body.contains("retry_after"));
  CHECK(body["detail"].get<std::string>().find("can never succeed") != std::string::npos);
}

TEST_CASE("other problems") {
  std::string out;
  append_problem(out, 404, "no route for \"/x\"");
  CHECK(
      out ==
      R"({"type":"about:blank","title":"Not Found","status":404,"detail":"no route for \"/x\""})");
}

TEST_CASE("reason phrases") {
  CHECK(reason_phrase(200) == "OK");
  CHECK(reason_phrase(429) == "Too Many Requests");
  CHECK(reason_phrase(511) == "Network Authentication Required");
  for (const int status : {0, 99, 299, 418, 600, -1})
    CHECK(reason_phrase(status) == "Unknown");
}

TEST_CASE("JSON strings escape what JSON wants escaped") {
  CHECK(json_string("") == R"("")");
  CHECK(json_string("a\"\\/b") == R"("a\"\\/b")");
  CHECK(json_string("\n\r\t\b\f") == R"("\n\r\t\u0008\u000c")");
  CHECK(json_string(std::string_view{"\0\x1f\x7f", 3}) == "\"\\u0000\\u001f\x7f\"");
  CHECK(json_string("\u00e9\u20ac\U0001F30D") == "\"\u00e9\u20ac\U0001F30D\"");
}

TEST_CASE("invalid UTF-8 becomes U+FFFD, one for each maximal subpart") {
  struct Row {
    std::string_view bytes;
    const char* shown;
  };
  const Row rows[] = {
      {"\x80", "\uFFFD"},
      {"\xff", "\uFFFD"},
      {"a\xc3", "a\uFFFD"},
      {"\xc3(", "\uFFFD("},
      {"\xc0\xaf", "\uFFFD\uFFFD"},                      // overlong
      {"\xe0\x80\xaf", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
      {"\xf0\x9f\x8c!", "\uFFFD!"},                      // cut short
      {"\xe2\x82", "\uFFFD"},
      // Unicode, table 3-8
      {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\x41"},
  };
  for (const Row& row : rows) {
    INFO(row.shown);
    CHECK(json_string(row.bytes) == "\"" + std::string{row.shown} + "\"");
  }
}

TEST_CASE("whatever is quoted is valid JSON, and valid text comes back as it was") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random());
    REQUIRE(nlohmann::json::accept(json_string(bytes)));
    for (char& c : bytes)
      c = static_cast<char>(c & 0x7f);
    REQUIRE(nlohmann::json::parse(json_string(bytes)).get<std::string>() == bytes);
  }
}

}  // namespace
}  // namespace weir::http
