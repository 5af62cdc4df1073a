#include "redis/result.hpp"

#include <array>
#include <bit>
#include <hiredis/hiredis.h>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;
using store::Error;

namespace {

/// The reply of a script: little-endian doubles.
std::string packed(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
    text.append(bytes.data(), bytes.size());
  }
  return text;
}

redisReply reply_of(int type, std::string& text) {
  redisReply reply{};
  reply.type = type;
  reply.str = text.data();
  reply.len = static_cast<decltype(reply.len)>(text.size());
  return reply;
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

}  // namespace

TEST_CASE("the reply of a script decides all claims") {
  const bool admitted = GENERATE(false, true);
  TwoClaims two;
  const rules::Decision untouched = two.decisions[2];
  std::string text = packed({admitted ? 1.0 : 0.0, 1, 9, 1000, 100, 0, -1,  //
                             admitted ? 1.0 : 0.0, 5, 2000, 200, 0, 300});
  const store::Result result = result_of(reply_of(REDIS_REPLY_STRING, text), &two.acquisition);
  CHECK(result.error == Error::none);
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
  CHECK(result_of(reply_of(row.type, text), &two.acquisition) == failed(Error::other));
}

TEST_CASE("DEL replies with an integer") {
  std::string text;
  CHECK(result_of(reply_of(REDIS_REPLY_INTEGER, text), nullptr) == failed(Error::none));
  text = "OK";
  CHECK(result_of(reply_of(REDIS_REPLY_STATUS, text), nullptr) == failed(Error::other));
}
