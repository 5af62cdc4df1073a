#include "redis/answer.hpp"

#include <array>
#include <bit>
#include <hiredis/hiredis.h>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "rules/span.hpp"

namespace weir::redis {
namespace {

using namespace std::chrono_literals;
using rules::OverrideEffect;

std::string packed(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i)
      text += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  return text;
}

redisReply reply_of(std::string& text, int type = REDIS_REPLY_STRING) {
  redisReply reply{};
  reply.type = type;
  reply.str = text.data();
  reply.len = text.size();
  return reply;
}

/// Decisions of policies with these limits, as the caller prepares them.
std::vector<rules::Decision> limits_of(const std::vector<std::int64_t>& limits) {
  std::vector<rules::Decision> decisions;
  for (const std::int64_t limit : limits)
    decisions.push_back({.limit = limit});
  return decisions;
}

struct ReadAnswer {
  bool is_read = false;
  bool admitted = false;
  std::vector<rules::Decision> decisions;
};

ReadAnswer answer_of(const std::vector<double>& numbers,
                     const std::vector<std::int64_t>& limits = {10},
                     int type = REDIS_REPLY_STRING) {
  std::string text = packed(numbers);
  ReadAnswer answer{.decisions = limits_of(limits)};
  answer.is_read = read_answer(reply_of(text, type), answer.decisions, answer.admitted);
  return answer;
}

TEST_CASE("an answer has a decision for each claim, in order") {
  const ReadAnswer answer =
      answer_of({0, /**/ 1, 7, 3e6, 1e6, 500, -1, /**/ 0, 0, 2e6, 4e6, 0, 5e6}, {10, 3});
  REQUIRE(answer.is_read);
  CHECK_FALSE(answer.admitted);
  CHECK(answer.decisions[0] == rules::Decision{.allowed = true,
                                               .limit = 10,
                                               .remaining = 7,
                                               .reset_after = 3s,
                                               .more_after = 1s,
                                               .delay = 500us});
  CHECK(answer.decisions[1] == rules::Decision{.allowed = false,
                                               .limit = 3,
                                               .remaining = 0,
                                               .reset_after = 2s,
                                               .more_after = 4s,
                                               .retry_after = 5s});
  CHECK(answer_of({1, 1, 10, 0, 0, 0, -1}).admitted);
}

TEST_CASE("the overrides follow the decisions") {
  const std::vector<double> decision{1, 20, 0, 0, 0, -1};
  const auto with = [&](std::vector<double> override_numbers) {
    std::vector<double> numbers{1};
    numbers.insert(numbers.end(), decision.begin(), decision.end());
    numbers.insert(numbers.end(), override_numbers.begin(), override_numbers.end());
    return answer_of(numbers, {20});
  };
  const ReadAnswer numbers = with({1, 50, 2e6, 9e6});
  REQUIRE(numbers.is_read);
  CHECK(numbers.decisions[0].override_effect == OverrideEffect::numbers);
  CHECK(numbers.decisions[0].limit == 50);
  CHECK(numbers.decisions[0].refill == 2s);
  CHECK(numbers.decisions[0].ends_after == Duration{9s});
  // The capacity counts only if the numbers of the override are in force; 0: it does not end.
  const ReadAnswer unlimited = with({2, 50, 0, 0});
  REQUIRE(unlimited.is_read);
  CHECK(unlimited.decisions[0].override_effect == OverrideEffect::unlimited);
  CHECK(unlimited.decisions[0].limit == 20);
  CHECK_FALSE(unlimited.decisions[0].ends_after.has_value());
  CHECK(with({4, 0, 0, 0}).decisions[0].override_effect == OverrideEffect::malformed);
  CHECK_FALSE(with({5, 0, 0, 0}).is_read);
  // More units are left than the override allows.
  CHECK_FALSE(with({1, 19, 0, 0}).is_read);
}

TEST_CASE("a reply that no script returns changes nothing") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double exact = static_cast<double>(rules::exact_limit);
  const std::vector<double> good{1, 1, 7, 1, 1, 1, -1};
  REQUIRE(answer_of(good).is_read);
  std::vector<std::vector<double>> rows{{}, {1}, {1, 1, 7, 1, 1, 1}, {1, 1, 7, 1, 1, 1, -1, 0}};
  for (const double wrong : {0.5, -2.0, nan, infinity, -infinity, exact * 2}) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      rows.push_back(good);
      rows.back()[i] = wrong;
    }
  }
  rows.push_back({2, 1, 7, 1, 1, 1, -1});  // flags are 0 or 1
  rows.push_back({1, 2, 7, 1, 1, 1, -1});
  rows.push_back({1, 1, 11, 1, 1, 1, -1});  // more than the limit
  rows.push_back({1, 1, 7, -1, 1, 1, -1});  // only retry_after may be -1
  for (const auto& row : rows) {
    CAPTURE(row);
    const ReadAnswer answer = answer_of(row);
    CHECK_FALSE(answer.is_read);
    CHECK_FALSE(answer.admitted);
    CHECK(answer.decisions == limits_of({10}));
  }
  for (const int type : {REDIS_REPLY_ERROR, REDIS_REPLY_NIL, REDIS_REPLY_STATUS})
    CHECK_FALSE(answer_of(good, {10}, type).is_read);
}

TEST_CASE("an answer beside holds has five more numbers for each claim") {
  std::string text = packed({1, /**/ 1, 7, 0, 0, 0, -1, /**/ 3, 1, 5, 2, 4});
  std::vector<rules::Decision> decisions = limits_of({10});
  std::vector<HoldTable::Reply> holds(1);
  bool admitted = false;
  REQUIRE(read_held_answer(reply_of(text), decisions, holds, admitted));
  CHECK(admitted);
  CHECK(decisions[0].held == 3);
  CHECK(decisions[0].by_holds);
  CHECK(decisions[0].held_by_others == 5);
  CHECK(holds[0].taken == 3);
  CHECK(holds[0].lost == 2);
  CHECK(holds[0].ended == 4);
  // The same reply, read for its holds alone.
  std::vector<HoldTable::Reply> alone(1);
  REQUIRE(read_holds(reply_of(text), alone));
  CHECK(alone[0].taken == 3);
  CHECK(alone[0].lost == 2);
  CHECK(alone[0].ended == 4);
  std::vector<HoldTable::Reply> two(2);
  CHECK_FALSE(read_holds(reply_of(text), two));
}

TEST_CASE("the reply to settlements has two numbers for each key") {
  std::string text = packed({1, 2, 0, 3});
  std::vector<HoldTable::Reply> settled(2);
  REQUIRE(read_settled(reply_of(text), settled));
  CHECK(settled[0].lost == 1);
  CHECK(settled[0].ended == 2);
  CHECK(settled[1].lost == 0);
  CHECK(settled[1].ended == 3);
  std::vector<HoldTable::Reply> one(1);
  CHECK_FALSE(read_settled(reply_of(text), one));
  CHECK_FALSE(read_settled(reply_of(text, REDIS_REPLY_ERROR), settled));
  std::string negative = packed({1, -2, 0, 3});
  CHECK_FALSE(read_settled(reply_of(negative), settled));
}

struct TwoClaims {
  TwoClaims() {
    for (auto& decision : decisions)
      decision.limit = 10;
    acquisition = {.claims = claims, .decisions = decisions};
  }
  TwoClaims(const TwoClaims&) = delete;
  TwoClaims& operator=(const TwoClaims&) = delete;

  std::array<store::Claim, 2> claims;
  std::array<rules::Decision, 3> decisions;  ///< one more than claims
  store::Acquisition acquisition;
};

TEST_CASE("the reply of a script decides all claims") {
  const bool admitted = GENERATE(false, true);
  TwoClaims two;
  const rules::Decision untouched = two.decisions[2];
  std::string text = packed({admitted ? 1.0 : 0.0, 1, 9, 1000, 100, 0, -1,  //
                             admitted ? 1.0 : 0.0, 5, 2000, 200, 0, 300});
  const store::Result result = result_of(reply_of(text), &two.acquisition);
  CHECK(result.error == store::Error::none);
  CHECK(result.decider == store::Decider::redis);
  CHECK(result.admitted == admitted);
  CHECK(result.decided == store::first_claims(2));
  CHECK(two.decisions[0].remaining == 9);
  CHECK(two.decisions[1].allowed == admitted);
  CHECK(two.decisions[1].remaining == 5);
  CHECK(two.decisions[2] == untouched);
}

TEST_CASE("another reply to a script is an error and decides nothing") {
  struct Row {
    int type;
    std::vector<double> numbers;
  };
  const auto row = GENERATE(values<Row>({{REDIS_REPLY_STRING, {}},
                                         {REDIS_REPLY_STRING, {1, 1, 9, 1000, 100, 0, -1}},
                                         {REDIS_REPLY_STATUS, {1}},
                                         {REDIS_REPLY_INTEGER, {}},
                                         {REDIS_REPLY_NIL, {}}}));
  CAPTURE(row.type);
  TwoClaims two;
  std::string text = packed(row.numbers);
  CHECK(result_of(reply_of(text, row.type), &two.acquisition) == failed(store::Error::other));
}

TEST_CASE("DEL replies with an integer") {
  std::string text;
  CHECK(result_of(reply_of(text, REDIS_REPLY_INTEGER), nullptr) == failed(store::Error::none));
  text = "OK";
  CHECK(result_of(reply_of(text, REDIS_REPLY_STATUS), nullptr) == failed(store::Error::other));
}

}  // namespace
}  // namespace weir::redis
