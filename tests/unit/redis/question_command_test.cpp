#include "redis/question_command.hpp"

#include <cstring>
#include <hiredis/hiredis.h>
#include <limits>
#include <set>

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "redis/answer.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;

namespace {

const std::string names[] = {"per_client", "daily"};
const KeySpace keys{.prefix = "weir:", .policy_names = names};

/// The words of the one RESP command that `text` is.
std::vector<std::string> words_of(const std::string& text) {
  redisReader* const reader = redisReaderCreate();
  redisReaderFeed(reader, text.data(), text.size());
  void* parsed = nullptr;
  REQUIRE(redisReaderGetReply(reader, &parsed) == REDIS_OK);
  REQUIRE(parsed != nullptr);
  auto* const reply = static_cast<redisReply*>(parsed);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < reply->elements; ++i)
    words.emplace_back(reply->element[i]->str, static_cast<std::size_t>(reply->element[i]->len));
  freeReplyObject(reply);
  void* rest = nullptr;
  CHECK(redisReaderGetReply(reader, &rest) == REDIS_OK);
  CHECK(rest == nullptr);
  redisReaderFree(reader);
  return words;
}

bool reads(int type, std::string text, std::size_t claims = 1) {
  redisReply reply{};
  reply.type = type;
  reply.str = text.data();
  reply.len = static_cast<decltype(reply.len)>(text.size());
  std::vector<rules::Decision> decisions(claims, rules::Decision{.limit = 10});
  const auto before = decisions;
  bool admitted = false;
  const bool good = read_answer(reply, decisions, admitted);
  if (!good) CHECK((decisions == before && !admitted));
  return good;
}

std::string packed(std::initializer_list<double> numbers) {
  std::string text(numbers.size() * sizeof(double), '\0');
  std::memcpy(text.data(), std::data(numbers), text.size());
  return text;
}

}  // namespace

TEST_CASE("A key is prefix, identity in braces, policy, what it contains") {
  std::string key = "x";
  append_key(key, keys, {.low = 0xabc, .high = 0x1234567890abcdef}, 1, Algorithm::fixed_window);
  CHECK(key == "xweir:{1234567890abcdef0000000000000abc}:daily:f1");
}

TEST_CASE("Each algorithm has keys of its own") {
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < rules::algorithm_count; ++i)
    codes.insert(state_code(static_cast<Algorithm>(i)));
  CHECK(codes == std::set<std::string_view>{"a1", "b1", "c1", "f1", "g1", "l2", "t1", "w1"});
}

TEST_CASE("A question is one command with all claims") {
  const auto gcra = policy(Algorithm::gcra, 10, 1s);
  const auto queue = policy(Algorithm::leaky_bucket, 3, 3s);
  rules::Definition definition;
  definition.algorithm = Algorithm::sliding_window;
  definition.rates = {{2, 1s}, {3, 10s}};
  const auto tiers = policy(definition);
  const auto attributed = policy(Algorithm::attributed_window, 3, 3s);
  std::vector claims{claim(gcra, 0, 5), claim(queue, 0, -4, 1), claim(tiers, 0),
                     claim(attributed, 0)};
  claims[0].shadow = claims[0].demand.overdraft = true;
  const std::string_view attributes[] = {"a b", "c\r\nd"};
  claims[3].attributes = attributes;
  CHECK(algorithms_of(claims) ==
        (set_of(Algorithm::gcra) | set_of(Algorithm::leaky_bucket) |
         set_of(Algorithm::sliding_window) | set_of(Algorithm::attributed_window)));
  std::string out;
  append_question(out, {ScriptName::By::sha, "0123"}, keys, claims, epoch);
  const std::string zero(32, '0');
  const std::vector<std::string> expected{"EVALSHA",
                                          "0123",
                                          "8",
                                          "weir:{" + zero + "}:per_client:g1",
                                          "weir:{" + zero + "}:!",
                                          "weir:{" + zero + "}:daily:b1",
                                          "weir:{" + zero + "}:!",
                                          "weir:{" + zero + "}:per_client:w1",
                                          "weir:{" + zero + "}:!",
                                          "weir:{" + zero + "}:per_client:a1",
                                          "weir:{" + zero + "}:!",
                                          "29",
                                          "5",
                                          "10",
                                          "10",
                                          "1000000",
                                          "6",
                                          "0",
                                          "3",
                                          "3",
                                          "3000000",
                                          "3000000",
                                          "2",
                                          "1",
                                          "2",
                                          "2",
                                          "1000000",
                                          "2",
                                          "3",
                                          "10000000",
                                          "1",
                                          "1",
                                          "3",
                                          "3",
                                          "3000000",
                                          "a b\tc  d",
                                          "1700000010000000"};
  CHECK(words_of(out) == expected);
  out.clear();
  append_question(out, {ScriptName::By::text, "return 1"}, keys, std::span(claims).first(1));
  CHECK(words_of(out).front() == "EVAL");
  CHECK(words_of(out).size() == 10);
}

TEST_CASE("Asking needs no more memory than the buffer has") {
  const auto gcra = policy(Algorithm::gcra, 10, 1s);
  const std::vector claims{claim(gcra, 1)};
  std::string out;
  append_question(out, {ScriptName::By::sha, "0123"}, keys, claims);
  const auto size = out.size();
  const auto* const at = out.data();
  out.clear();
  append_question(out, {ScriptName::By::sha, "0123"}, keys, claims);
  CHECK(out.size() == size);
  CHECK(out.data() == at);
}

TEST_CASE("Forgetting is a DEL of the keys of every algorithm and of the marks of events") {
  std::string out;
  append_forget(out, keys, {}, 1);
  const std::string key = "weir:{" + std::string(32, '0') + "}:daily:";
  std::vector<std::string> words{"DEL"};
  for (const std::string code : {"f1", "a1", "w1", "l2", "t1", "g1", "b1", "c1"}) {
    words.push_back(key + code);
    words.push_back(key + code + ":h");
  }
  words.push_back(key + "e1");
  CHECK(words_of(out) == words);
}

TEST_CASE("Only a reply of the form that the scripts return is an answer") {
  const double none = -1;
  CHECK(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none})));
  CHECK(reads(REDIS_REPLY_STRING, packed({0, 0, 0, 100, 100, 0, 5})));
  CHECK(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none, 1, 1, 1, 1, 1, none}), 2));
  // Other types and lengths.
  CHECK_FALSE(reads(REDIS_REPLY_ERROR, packed({1, 1, 9, 100, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STATUS, "OK"));
  CHECK_FALSE(reads(REDIS_REPLY_NIL, ""));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, ""));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none}), 2));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0})));
  // Values out of range: flags, more than the limit, negative, broken, too large, not a number.
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({2, 1, 9, 100, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 2, 9, 100, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 11, 100, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, -1, 100, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 0.5, 100, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 1e300, 0, none})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, -2})));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, nan, 100, 0, none})));
  // With overrides: effect, capacity, refill and end.
  CHECK(reads(REDIS_REPLY_STRING, packed({1, 1, 19, 100, 100, 0, none, 1, 20, 1000, 0})));
  CHECK(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none, 4, 20, 0, 0})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 21, 100, 100, 0, none, 1, 20, 1000, 0})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 19, 100, 100, 0, none, 4, 20, 0, 0})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none, 5, 10, 1000, 0})));
  CHECK_FALSE(reads(REDIS_REPLY_STRING, packed({1, 1, 9, 100, 100, 0, none, 1, 10, 1000})));
}

}  // namespace weir::redis::test
