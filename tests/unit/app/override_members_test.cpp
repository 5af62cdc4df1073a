#include "app/override_members.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::app;

namespace {

/// `members`: without the braces. Empty: nothing is wrong.
std::string problem_of(const std::string& members, const MemberWording& wording = {}) {
  const auto read = read_override_members("{" + members + "}", wording);
  return read ? std::string() : read.error().message;
}

const std::string kinds =
    "expected one of: numbers (rate, rates, burst, limit, queue), plan, deny, unlimited";

}  // namespace

TEST_CASE("The members of an override are read, and kept as text in one order and notation") {
  const auto numbers = read_override_members(
      R"({"note":"x\u00e9\"","until":"2026-12-01T00:00:00Z","burst":7,"rate":"50/1s",)"
      R"("policy":"p","key":"abc","identity":"api_key"})");
  REQUIRE(numbers.has_value());
  CHECK(numbers->identity == "api_key");
  CHECK(numbers->key == "abc");
  CHECK(numbers->policy == "p");
  REQUIRE(numbers->rates.size() == 1);
  CHECK(numbers->rates[0].count == 50);
  CHECK(numbers->burst == 7);
  CHECK(numbers->until == instant_from_us(1'796'083'200'000'000));
  CHECK(
      numbers->details ==
      "\"rate\":\"50/1s\",\"burst\":7,\"until\":\"2026-12-01T00:00:00Z\",\"note\":\"x\u00e9\\\"\"");
  const auto other = read_override_members(
      R"({"policy":"p", "queue": 0, "limit": 5, "rates": [ "5/1s" , "9/1m" ]})");
  REQUIRE(other.has_value());
  CHECK(other->rates.size() == 2);
  CHECK(other->limit == 5);
  CHECK(other->queue == 0);
  CHECK(other->details == R"("rates":["5/1s","9/1m"],"limit":5,"queue":0)");
  CHECK(read_override_members(R"({"deny":true})")->is_denied);
  CHECK(read_override_members(R"({"unlimited":true})")->is_unlimited);
  CHECK(read_override_members(R"({"plan":"gold"})")->plan == "gold");
  CHECK(read_override_members(R"({"plan":"gold"})")->details == R"("plan":"gold")");
}

TEST_CASE("A member with the wrong form is named, with what to write") {
  const std::string rate = "rate: expected COUNT/DURATION in quotes, such as \"100/1m\"";
  const std::string count = ": expected a whole number";
  const std::string flag = ": expected true; leave it out otherwise";
  const std::string text = ": expected a string that is not empty";
  const std::string until = "until: expected a time such as 2026-12-01T00:00:00Z (RFC 3339)";
  for (const auto& [members, problem] : std::vector<std::pair<std::string, std::string>>{
           {R"("deny":"yes","rate":"5/1s")", "deny" + flag},
           {R"("deny":false)", "deny" + flag},
           {R"("unlimited":1)", "unlimited" + flag},
           {R"("deny":true,"policy":["plain"])", "policy" + text},
           {R"("deny":true,"policy":null)", "policy" + text},
           {R"("deny":true,"identity":5)", "identity" + text},
           {R"("deny":true,"key":"")", "key" + text},
           {R"("plan":5)", "plan" + text},
           {R"("policy":"p","rate":{})", rate},
           {R"("policy":"p","rate":5)", rate},
           {R"("policy":"p","rates":["5/1s",5])", "rates" + rate.substr(4)},
           {R"("policy":"p","rates":"5/1s")",
            R"(rates: expected a list of rates, such as ["10/1s", "100/1m"])"},
           {R"("policy":"p","rates":[])",
            R"(rates: expected a list of rates, such as ["10/1s", "100/1m"])"},
           {R"("policy":"p","burst":"5")", "burst" + count},
           {R"("policy":"p","burst":1.5)", "burst" + count},
           {R"("policy":"p","limit":"5")", "limit" + count},
           {R"("policy":"p","queue":null)", "queue" + count},
           {R"("deny":true,"until":5)", "until" + text},
           {R"("deny":true,"until":"")", "until" + text},
           {R"("deny":true,"until":"tomorrow")", until},
           {R"("deny":true,"note":false)", "note" + text},
           {R"("deny":true,"note":"")", "note" + text},
           {R"("deny":true,"note":"a\nb")", "note: has control characters; write it in one line"},
           {R"("deny":true,"note":")" + std::string(200, 'x') + '"', ""},
           {R"("deny":true,"note":")" + std::string(201, 'x') + '"',
            "note: longer than 200 bytes; shorten it"},
           {R"("deny":true,"colour":"red")",
            "unknown member \"colour\"; known are identity, key, policy, rate, rates, burst, "
            "limit, queue, plan, deny, unlimited, until, note"}}) {
    CAPTURE(members);
    CHECK(problem_of(members) == problem);
  }
  for (const char* const bad : {"", "5", "5/x", "/1s", "abc"}) {
    CAPTURE(bad);
    const std::string quoted = '"' + std::string(bad) + '"';
    CHECK(problem_of(R"("policy":"p","rate":)" + quoted).starts_with("rate: "));
    CHECK(problem_of(R"("policy":"p","rates":["5/1s",)" + quoted + "]").starts_with("rates: "));
  }
}

TEST_CASE("An override has numbers for one policy, or one other kind") {
  const std::string exclude = " exclude each other; " + kinds;
  for (const auto& [members, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", kinds},
           {R"("note":"x")", kinds},
           {R"("deny":true,"policy":"p","rate":"5/1s","burst":3)", "rate, burst, deny" + exclude},
           {R"("policy":"p","limit":5,"deny":true)", "limit, deny" + exclude},
           {R"("policy":"p","queue":0,"plan":"gold")", "queue, plan" + exclude},
           {R"("deny":true,"unlimited":true)", "deny, unlimited" + exclude},
           {R"("plan":"gold","unlimited":true)", "plan, unlimited" + exclude},
           {R"("limit":5)", "policy is missing: numbers are for one policy"},
           {R"("burst":0)", "policy is missing: numbers are for one policy"},
           {R"("policy":"p","rate":"5/1s","rates":["5/1s"])",
            "rate and rates exclude each other; keep one"}}) {
    CAPTURE(members);
    CHECK(problem_of(members) == problem);
  }
}

TEST_CASE("Problems name the members as the caller writes them") {
  const MemberWording options{.prefix = "--", .other_kinds = ", --delete"};
  const std::string all =
      "expected one of: numbers (--rate, --rates, --burst, --limit, --queue), --plan, --deny, "
      "--unlimited, --delete";
  CHECK(problem_of("", options) == all);
  CHECK(problem_of(R"("deny":true,"unlimited":true)", options) ==
        "--deny, --unlimited exclude each other; " + all);
  CHECK(problem_of(R"("limit":5)", options) == "--policy is missing: numbers are for one policy");
  CHECK(problem_of(R"("policy":"p","rate":"1/1s","rates":["1/1s"])", options) ==
        "--rate and --rates exclude each other; keep one");
  CHECK(problem_of(R"("deny":true,"until":"x")", options).starts_with("--until: expected a time"));
}

TEST_CASE("A body that is no JSON object is refused") {
  for (const auto& [body, problem] :
       {std::pair{"[]", "the body is JSON, but not a JSON object such as {\"key\": \"...\"}"},
        {R"({"deny":)", "the body is not a JSON object in UTF-8"},
        {R"({"deny":true,"deny":true})", "a member of the body appears twice; write it once"},
        {R"({"deny":[[[[1]]]]})", "the body has more values than an override has"}}) {
    CAPTURE(body);
    CHECK(read_override_members(body).error().message == problem);
  }
}
