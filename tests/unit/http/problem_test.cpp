#include "http/problem.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"

namespace weir::http {
namespace {

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

TEST_CASE("the detail of a denial is also a text") {
  const auto detail = [](const std::vector<std::string_view>& violated,
                         std::optional<std::int64_t> retry_after_s) {
    std::string out = "x ";
    append_quota_detail(out, violated, retry_after_s);
    return out;
  };
  CHECK(detail({"per_user"}, 12) == "x quota \"per_user\" exceeded; retry in 12 s");
  CHECK(detail({"a", "b"}, 1) == "x quotas \"a\", \"b\" exceeded; retry in 1 s");
  CHECK(detail({}, std::nullopt).starts_with("x quota exceeded; this request costs more"));
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

TEST_CASE("the detail for a cost that can never pass has no time") {
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

}  // namespace
}  // namespace weir::http
