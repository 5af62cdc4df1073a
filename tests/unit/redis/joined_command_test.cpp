#include "redis/joined_command.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;
using rules::Algorithm;

namespace {

const std::string joined_names[] = {"first", "second"};

struct Composed {
  std::string command;
  QuestionParts parts;
  JoinedQuestion question() const { return {.command = command, .parts = parts}; }
};

Composed composed(const std::vector<store::Claim>& claims, std::optional<Instant> now = {}) {
  Composed one;
  const ScriptName name{ScriptName::By::sha, "aaaa"};
  one.parts = append_question(one.command, name, {.prefix = "w:", .policy_names = joined_names},
                              claims, now);
  return one;
}

rules::Policy per_second(Algorithm algorithm) {
  return rules::compile(
             {.algorithm = algorithm, .rates = {{.count = 10, .per = Duration{1'000'000}}}})
      .value();
}

store::Claim claim_of(const rules::Policy& policy, std::uint64_t who, std::uint32_t id = 0) {
  store::Claim claim;
  claim.policy = &policy;
  claim.identity = {.low = who};
  claim.policy_id = id;
  return claim;
}

/// `text` with a space for each end of a line.
std::string in_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;)
    text.replace(at, 2, " ");
  return text;
}

std::string key_words(int who, const std::string& policy, const std::string& code) {
  const std::string key = "w:{0000000000000000000000000000000" + std::to_string(who) + "}:";
  const std::string counter = key + policy + ":" + code;
  return "$" + std::to_string(counter.size()) + " " + counter + " $" +
         std::to_string(key.size() + 1) + " " + key + "! ";
}

}  // namespace

TEST_CASE("a joined command has all keys, the numbers of each question, and all arguments") {
  const auto gcra = per_second(Algorithm::gcra);
  const auto queue = per_second(Algorithm::leaky_bucket);
  const Composed one = composed({claim_of(gcra, 1)});
  const Composed two = composed({claim_of(gcra, 2), claim_of(queue, 3, 1)});
  const JoinedQuestion questions[] = {one.question(), two.question()};
  std::string command;
  append_joined(command, "bbbb", questions);
  const std::string gcra_words = "$1 5 $1 1 $2 10 $2 10 $7 1000000 ";
  CHECK(in_one_line(command) == "*26 $7 EVALSHA $4 bbbb $1 6 " + key_words(1, "first", "g1") +
                                    key_words(2, "first", "g1") + key_words(3, "second", "b1") +
                                    std::string("$4 \x01\x05\x02\x0b ") + gcra_words + gcra_words +
                                    "$1 6 $1 1 $1 1 $2 10 $7 1000000 $1 0 ");
}

TEST_CASE("questions with a time are joined if it is the same") {
  const auto gcra = per_second(Algorithm::gcra);
  const Instant now = instant_from_us(1'700'000'000'000'000);
  const Composed one = composed({claim_of(gcra, 1)}, now);
  const Composed same = composed({claim_of(gcra, 2)}, now);
  const Composed later = composed({claim_of(gcra, 2)}, now + Duration{1});
  CHECK(has_same_time(one.question(), same.question()));
  CHECK_FALSE(has_same_time(one.question(), later.question()));
  CHECK_FALSE(has_same_time(one.question(), composed({claim_of(gcra, 2)}).question()));
  const JoinedQuestion questions[] = {one.question(), same.question()};
  std::string command;
  append_joined(command, "bbbb", questions);
  CHECK(command.starts_with("*19\r\n"));
  CHECK(command.ends_with("1000000\r\n$16\r\n1700000000000000\r\n"));
}

TEST_CASE("a question whose numbers do not fit a byte is not joined") {
  CHECK(can_be_joined({.claims = 16, .arguments = 255}));
  CHECK_FALSE(can_be_joined({.claims = 16, .arguments = 256}));
}

TEST_CASE("a call has room for the claims of its slowest algorithm") {
  const auto set = [](auto... algorithms) {
    return static_cast<AlgorithmSet>((set_of(algorithms) | ...));
  };
  CHECK(most_joined_claims(set(Algorithm::gcra)) == 32);
  // Several claims of gcra in one request are decided by the general script.
  CHECK(work_of(set(Algorithm::gcra), {.claims = 1}) == 1);
  CHECK(work_of(set(Algorithm::gcra), {.claims = 2}) == 5);
  CHECK(work_of(set(Algorithm::gcra), {.claims = 3}) == 8);
  CHECK(work_of(set(Algorithm::gcra, Algorithm::token_bucket), {.claims = 2}) == 2);
  CHECK(most_joined_claims(set(Algorithm::gcra, Algorithm::token_bucket)) ==
        most_joined_claims(set(Algorithm::token_bucket)));
  CHECK(most_joined_claims(set(Algorithm::gcra, Algorithm::sliding_log)) ==
        most_joined_claims(set(Algorithm::sliding_log)));
}
