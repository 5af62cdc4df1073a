#include "redis/script_set.hpp"

#include "catch.hpp"

namespace {

using namespace weir::redis;
using weir::rules::Algorithm;

constexpr AlgorithmSet gcra = set_of(Algorithm::gcra);
constexpr AlgorithmSet window = set_of(Algorithm::fixed_window);
constexpr AlgorithmSet sliding_log = set_of(Algorithm::sliding_log);
constexpr auto gcra_and_window = static_cast<AlgorithmSet>(gcra | window);
constexpr auto all_three = static_cast<AlgorithmSet>(gcra | window | sliding_log);

}  // namespace

TEST_CASE("the script of a set is its own, else the one with the fewest other algorithms") {
  const ScriptSet scripts({all_three, gcra_and_window, window}, Clock::server);
  CHECK(scripts.find(window) == 2);
  CHECK(scripts.find(gcra) == 1);
  CHECK(scripts.find(gcra_and_window) == 1);
  CHECK(scripts.find(sliding_log) == 0);
  CHECK(scripts.find(set_of(Algorithm::token_bucket)) == std::nullopt);
  CHECK(scripts.texts()[2] == script_for(window, Clock::server));
}

TEST_CASE("a script that reads holds is made when it is needed, and decides no others") {
  ScriptSet scripts({all_three}, Clock::server);
  CHECK(scripts.find(gcra | with_holds) == std::nullopt);
  CHECK(scripts.find_or_add(gcra_and_window | with_holds) == 1);
  CHECK(scripts.find_or_add(gcra | with_holds) == 1);
  CHECK(scripts.find(gcra) == 0);
  CHECK(scripts.find_or_add(sliding_log | with_holds) == 2);
}

TEST_CASE("a script keeps its index when others are added") {
  ScriptSet scripts({window}, Clock::argument);
  CHECK(scripts.find(gcra) == std::nullopt);
  scripts.add({gcra_and_window, window, gcra});
  CHECK(scripts.sets() == std::vector<AlgorithmSet>{window, gcra_and_window, gcra});
  CHECK(scripts.find(window) == 0);
  CHECK(scripts.find(gcra) == 2);
  CHECK(scripts.texts()[2] == script_for(gcra, Clock::argument));
}

TEST_CASE("a script has no SHA until it is loaded, then the last one") {
  ScriptShas shas;
  CHECK(shas.sha(0).empty());
  shas.set(2, "c");
  CHECK(shas.sha(0).empty());
  CHECK(shas.sha(1).empty());
  CHECK(shas.sha(2) == "c");
  CHECK(shas.sha(3).empty());
  shas.set(0, "a");
  shas.set(2, "other");
  CHECK(shas.sha(0) == "a");
  CHECK(shas.sha(2) == "other");
}
