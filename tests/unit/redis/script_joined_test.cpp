// lua/joined.lua in a real server: requests that are decided in one call get the replies and leave
// the keys that they would have one by one.
#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "catch.hpp"
#include "redis/joined_command.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;
using store::Claim;

namespace {

/// Sends the same requests to two databases of one server: one by one, and joined.
class TwoWays {
 public:
  explicit TwoWays(AlgorithmSet algorithms) : joined_(shared_server()) {
    for (int i = 0; i < 40; ++i)
      names_.push_back("p" + std::to_string(i));
    joined_("SELECT", "1");
    sha_ = load(algorithms);
    joined_sha_ = load(static_cast<AlgorithmSet>(algorithms | joins_requests));
  }

  /// Returns the replies of the joined call, having compared them.
  std::vector<std::string> ask(const std::vector<std::vector<Claim>>& requests, Instant now) {
    std::vector<std::string> commands(requests.size());
    std::vector<JoinedQuestion> questions;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const QuestionParts parts = compose(commands[i], requests[i], now);
      questions.push_back({.command = commands[i], .parts = parts});
      expected.push_back(text_of_reply(*alone.redis.send(commands[i])));
    }
    std::vector<std::string> replies = send_joined(questions);
    // Those beyond the work of one call are sent alone.
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (replies[i] == "undecided") replies[i] = send_alone(requests[i], now);
    }
    REQUIRE(replies == expected);
    return replies;
  }
  /// The number of requests of one call that are decided: the first ones.
  std::size_t decided_of(const std::vector<std::vector<Claim>>& requests, Instant now) {
    std::vector<std::string> commands(requests.size());
    std::vector<JoinedQuestion> questions;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const QuestionParts parts = compose(commands[i], requests[i], now);
      questions.push_back({.command = commands[i], .parts = parts});
    }
    const auto replies = send_joined(questions);
    REQUIRE(replies.size() == requests.size());
    const auto undecided = std::ranges::find(replies, "undecided");
    CHECK(
        std::all_of(undecided, replies.end(), [](const auto& one) { return one == "undecided"; }));
    return static_cast<std::size_t>(undecided - replies.begin());
  }
  /// Copies the overrides, and nothing else.
  void copy_overrides() {
    const Reply found = alone.redis("KEYS", "*}:!");
    for (std::size_t i = 0; i < found->elements; ++i) {
      const std::string key = found->element[i]->str;
      alone.redis("COPY", key, key, "DB", "1");
    }
    alone.redis("DEL", "weir:!generation");
  }
  std::size_t joined_keys() { return keys(joined_).size(); }

  void keys_are_equal() {
    CHECK(keys(alone.redis) == keys(joined_));
    for (const std::string& key : keys(alone.redis)) {
      CAPTURE(key);
      CHECK(joined_.text(joined_("DUMP", key)) == joined_.text(alone.redis("DUMP", key)));
      const auto ttl = alone.redis("PTTL", key)->integer;
      CHECK(std::abs(joined_("PTTL", key)->integer - ttl) < 5'000);
    }
  }

  RedisUnderTest alone;

 private:
  QuestionParts compose(std::string& command, std::span<const Claim> claims, Instant now) const {
    return append_question(command, {ScriptName::By::sha, sha_},
                           {.prefix = "weir:", .policy_names = names_}, claims, now);
  }
  std::string send_alone(std::span<const Claim> claims, Instant now) {
    std::string command;
    compose(command, claims, now);
    return text_of_reply(*joined_.send(command));
  }
  std::vector<std::string> send_joined(std::span<const JoinedQuestion> questions) {
    std::string command;
    append_joined(command, joined_sha_, questions);
    const Reply reply = joined_.send(command);
    CAPTURE(text_of_reply(*reply));
    REQUIRE(reply->type == REDIS_REPLY_ARRAY);
    std::vector<std::string> replies;
    for (std::size_t i = 0; i < reply->elements; ++i)
      replies.push_back(text_of_reply(*reply->element[i]));
    return replies;
  }
  std::string load(AlgorithmSet algorithms) {
    return joined_.text(joined_("SCRIPT", "LOAD", script_for(algorithms, Clock::argument)));
  }
  /// An error by its code: before Redis 7 its text depends on the script.
  static std::string text_of_reply(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) return "undecided";
    if (reply.str == nullptr) return "array";
    const std::string text(reply.str, static_cast<std::size_t>(reply.len));
    return reply.type == REDIS_REPLY_ERROR ? "error " + text.substr(0, text.find(' ')) : text;
  }
  static std::set<std::string> keys(Connection& redis) {
    std::set<std::string> all;
    const Reply found = redis("KEYS", "*");
    for (std::size_t i = 0; i < found->elements; ++i)
      all.insert(found->element[i]->str);
    return all;
  }

  Connection joined_;
  std::vector<std::string> names_;
  std::string sha_;
  std::string joined_sha_;
};

class JoinedWalk {
 public:
  explicit JoinedWalk(std::vector<Algorithm> algorithms) {
    for (const Algorithm algorithm : algorithms) {
      for (const bool counts : {false, true}) {
        rules::Definition definition{.algorithm = algorithm, .rates = {{.count = 6, .per = 2s}}};
        definition.count_rejected = counts;
        const auto compiled = rules::compile(definition);
        if (compiled.has_value()) policies_.push_back(compiled.value());
      }
    }
  }

  std::vector<std::vector<Claim>> requests(std::mt19937_64& random) const {
    std::vector<std::vector<Claim>> all(1 + random() % 8);
    for (std::vector<Claim>& claims : all) {
      const std::size_t count = random() % 2 == 0 ? 1 : 1 + random() % 3;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t which = random() % policies_.size();
        claims.push_back(claim(policies_[which], 1 + random() % 4,
                               static_cast<std::int64_t>(random() % 4),
                               static_cast<std::uint32_t>(which)));
        claims.back().shadow = random() % 8 == 0;
      }
    }
    return all;
  }

 private:
  std::vector<rules::Policy> policies_;
};

void agrees_joined(const std::vector<Algorithm>& algorithms, bool overridden) {
  AlgorithmSet set = 0;
  for (const Algorithm algorithm : algorithms)
    set = static_cast<AlgorithmSet>(set | set_of(algorithm));
  TwoWays server(set);
  if (overridden) {
    const store::Override denial{.kind = store::Override::Kind::denied};
    const store::Override unlimited{.kind = store::Override::Kind::unlimited};
    server.alone.put({.low = 1}, denial, epoch);
    server.alone.put({.low = 2}, unlimited, epoch);
    server.copy_overrides();
  }
  const JoinedWalk walk(algorithms);
  std::mt19937_64 random(17);
  Instant now = epoch;
  for (int step = 0; step < walk_steps / 40; ++step) {
    CAPTURE(step);
    now += Duration{static_cast<std::int64_t>(random() % 900'000)};
    server.ask(walk.requests(random), now);
  }
  server.keys_are_equal();
}

}  // namespace

TEST_CASE("joined requests are decided as one by one, with each algorithm") {
  for (const Algorithm algorithm : algorithms) {
    if (algorithm == Algorithm::concurrency) continue;
    CAPTURE(to_string(algorithm));
    agrees_joined({algorithm}, false);
  }
}

TEST_CASE("joined requests of several algorithms are decided as one by one, also overridden ones") {
  const std::vector<Algorithm> all{Algorithm::fixed_window,   Algorithm::attributed_window,
                                   Algorithm::sliding_window, Algorithm::sliding_log,
                                   Algorithm::token_bucket,   Algorithm::gcra,
                                   Algorithm::leaky_bucket};
  agrees_joined(all, false);
  agrees_joined(all, true);
  agrees_joined({Algorithm::gcra}, true);
}

TEST_CASE("a call begins no request once its work is done, and overrides are work") {
  for (const Algorithm algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const AlgorithmSet set = set_of(algorithm);
    TwoWays server(set);
    const auto limit = policy(algorithm, 100, 60s);
    const std::size_t most = most_joined_claims(set);
    std::vector<std::vector<Claim>> requests;
    for (std::uint64_t who = 1; who <= most; ++who)
      requests.push_back({claim(limit, who)});
    CHECK(server.decided_of(requests, epoch) == most);
    for (const auto& request : requests)
      server.alone.put(request[0].identity, {.numbers = policy(algorithm, 50, 60s)}, epoch);
    server.copy_overrides();
    const double overridden =
        (algorithm == Algorithm::gcra ? 2.5 : 1) + static_cast<double>(most) / 16;
    /// Requests until the work is done; `plain`: every second one has no override.
    const auto expected = [&](bool plain) {
      std::size_t count = 0;
      for (double work = 0; count < most && work < static_cast<double>(most); ++count)
        work += plain && count % 2 == 0 ? 1 : overridden;
      return count;
    };
    CHECK(server.decided_of(requests, epoch) == expected(false));
    CHECK(expected(false) < most);
    for (std::size_t i = 0; i < most; i += 2)
      requests[i] = {claim(limit, 100 + i)};
    const std::size_t mixed = server.decided_of(requests, epoch);
    CHECK(mixed == expected(true));
    // A request that was not decided has made no key.
    CHECK(server.joined_keys() == 2 * most + (mixed + 1) / 2);
  }
}

TEST_CASE("a joined request that fails does not concern the others") {
  for (const Algorithm algorithm : {Algorithm::gcra, Algorithm::token_bucket}) {
    TwoWays server(set_of(algorithm));
    const auto limit = policy(algorithm, 5, 60s);
    const auto one = [&](std::uint64_t who, std::int64_t cost) {
      return std::vector{claim(limit, who, cost)};
    };
    server.ask({one(1, 5), one(2, 1)}, epoch);
    server.alone.redis("CONFIG", "SET", "maxmemory", "1");
    const auto replies = server.ask({one(1, 1), one(2, 1), one(3, 1), one(3, 0)}, epoch);
    server.alone.redis("CONFIG", "SET", "maxmemory", "0");
    CHECK(replies[0].size() == 56);  // denied
    CHECK(replies[1] == "error OOM");
    CHECK(replies[2] == "error OOM");
    CHECK(replies[3].size() == 56);
    server.keys_are_equal();
  }
}

}  // namespace weir::redis::test
