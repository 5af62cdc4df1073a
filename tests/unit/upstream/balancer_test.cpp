// The order of choices is exact, so whole rounds are compared.
#include "upstream/balancer.hpp"

#include <numeric>
#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::upstream {
namespace {

Balancer with_weights(options::Balance balance, const std::vector<int>& weights) {
  std::vector<options::Server> servers;
  for (const int weight : weights)
    servers.push_back({.url = {}, .host = {}, .weight = weight});
  return {balance, servers};
}

ServerSet first(std::size_t count) {
  ServerSet set;
  for (std::size_t i = 0; i < count; ++i)
    set.set(i);
  return set;
}

/// The next `count` choices as letters: a for the first server.
std::string choices(Balancer& balancer, const ServerSet& eligible, std::size_t count,
                    const std::vector<std::uint32_t>& active) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = balancer.choose(eligible, active);
    text += index ? static_cast<char>('a' + *index) : '-';
  }
  return text;
}

TEST_CASE("round robin, weighted: the turns of a heavy server are spread") {
  const struct {
    std::vector<int> weights;
    std::string turns;
  } cases[] = {
      {{1}, "aaaa"},
      {{1, 1}, "abab"},
      {{1, 1, 1}, "abcabc"},
      {{2, 1}, "abaaba"},
      {{3, 1}, "aabaaaba"},
      // The example from nginx.
      {{5, 1, 1}, "aabacaaaabacaa"},
      {{1, 0x3E8}, "bbbb"},
  };
  for (const auto& [weights, turns] : cases) {
    CAPTURE(weights);
    auto balancer = with_weights(options::Balance::round_robin, weights);
    const std::vector<std::uint32_t> active(weights.size(), 0);
    CHECK(choices(balancer, first(weights.size()), turns.size(), active) == turns);
  }
}

TEST_CASE("round robin does not mind what is under way") {
  auto balancer = with_weights(options::Balance::round_robin, {1, 1});
  CHECK(choices(balancer, first(2), 4, {100, 0}) == "abab");
}

TEST_CASE("only eligible servers are chosen, and the others' shares go by weight") {
  auto balancer = with_weights(options::Balance::round_robin, {1, 2, 1});
  const std::vector<std::uint32_t> none(3, 0);
  CHECK(choices(balancer, ServerSet{0b110}, 6, none) == "bcbbcb");
  CHECK(choices(balancer, ServerSet{0b100}, 3, none) == "ccc");
  CHECK(choices(balancer, ServerSet{}, 2, none) == "--");
  // A server that comes back gets its share, without a surplus for the time it was away.
  CHECK(choices(balancer, first(3), 8, none).find("aa") == std::string::npos);
}

TEST_CASE("any weights: after a round everyone had its weight in turns") {
  const TestSeed seed;
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> weights(1 + random() % 8);
    for (int& weight : weights)
      weight = static_cast<int>(1 + random() % 20);
    auto balancer = with_weights(options::Balance::round_robin, weights);
    std::vector<int> turns(weights.size());
    const int sum = std::accumulate(weights.begin(), weights.end(), 0);
    const std::vector<std::uint32_t> none(weights.size(), 0);
    for (int i = 0; i < sum; ++i)
      ++turns[balancer.choose(first(weights.size()), none).value()];
    CHECK(turns == weights);
  }
}

TEST_CASE("least connections: the fewest under way for the weight, and level ones in turn") {
  const struct {
    std::vector<int> weights;
    std::vector<std::uint32_t> active;
    std::string turns;
  } cases[] = {
      {{1, 1, 1}, {0, 0, 0}, "abcabc"},
      {{1, 1, 1}, {1, 0, 0}, "bcbc"},
      {{1, 1, 1}, {3, 2, 1}, "cc"},
      // 4 of weight 2 is 2, equal to 2 of weight 1
      {{2, 1}, {4, 2}, "aba"},
      {{2, 1}, {5, 2}, "bb"},
      {{2, 1}, {3, 2}, "aa"},
      {{1000, 1}, {999, 1}, "aa"},
      {{1000, 1}, {4'000'000'000, 4'000'000}, "aaaa"},
  };
  for (const auto& [weights, active, turns] : cases) {
    CAPTURE(weights, active);
    auto balancer = with_weights(options::Balance::least_connections, weights);
    CHECK(choices(balancer, first(weights.size()), turns.size(), active) == turns);
  }
  auto balancer = with_weights(options::Balance::least_connections, {1, 1});
  CHECK(choices(balancer, ServerSet{0b10}, 2, {0, 9}) == "bb");
  CHECK(choices(balancer, ServerSet{}, 1, {0, 9}) == "-");
}

}  // namespace
}  // namespace weir::upstream
