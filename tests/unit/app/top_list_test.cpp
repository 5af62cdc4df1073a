#include "app/top_list.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

#include "catch.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;
using limiter::TopKeys;

constexpr Instant top_now{30s * 1000 + 10s};

const std::vector<std::string> policy_names{"gone", "narrow", "wide"};
const std::vector<std::string> route_names{"search", "login"};
const std::vector<std::string> identity_names{"client", "api_key"};
const TopNames top_names{policy_names, route_names, identity_names};

limiter::RouteKey key_of(std::uint64_t who, std::uint32_t policy = 1, std::uint32_t route = 0) {
  return {.identity = {.low = who, .high = 0}, .policy_id = policy, .route_id = route};
}

const limiter::KeySample by_key{.client = *IpAddress::parse("192.0.2.1"), .identity_id = 1};

void add(TopKeys& worker, const limiter::RouteKey& key, int requests, int denials = 0) {
  for (int i = 0; i < requests; ++i)
    worker.count(key, {.is_denied = i < denials}, by_key, top_now);
}

TopList list_of(std::vector<TopKeys*> workers, const TopQuery& query) {
  std::vector<limiter::TopCounts> counts;
  for (TopKeys* worker : workers)
    counts.push_back(worker->read(top_now));
  return make_top_list(std::move(counts), query, top_names, top_now + 5s);
}

std::vector<std::uint64_t> whose(const TopList& list) {
  std::vector<std::uint64_t> all;
  for (const TopKey& key : list.keys)
    all.push_back(key.hash.low);
  return all;
}

}  // namespace

TEST_CASE("the counts of workers are added up, the highest first") {
  TopKeys one(1), two(2);
  add(one, key_of(5), 3, 1);
  add(two, key_of(5), 4, 2);
  add(one, key_of(6), 5, 5);
  add(two, key_of(7), 9);
  const TopList list = list_of({&one, &two}, {});
  CHECK(list.window == 5s);
  CHECK(whose(list) == std::vector<std::uint64_t>{7, 5, 6});
  CHECK(list.total == std::array<std::uint64_t, 3>{21, 8, 0});
  CHECK(list.unseen == std::array<std::uint64_t, 3>{0, 0, 0});
  const TopKey& shared = list.keys[1];
  CHECK(shared.identity == "api_key");
  CHECK(shared.policy == "narrow");
  CHECK(shared.route == "search");
  CHECK(shared.client.to_string() == "192.0.2.1");
  CHECK(shared.counts[0].most == 7);
  CHECK(shared.counts[1].most == 3);
  CHECK(shared.counts[2].most == 0);

  const TopList denied = list_of({&one, &two}, {.by = KeyEvent::denial});
  CHECK(whose(denied) == std::vector<std::uint64_t>{6, 5});
  CHECK(list_of({&one, &two}, {.by = KeyEvent::early_retry}).keys.empty());
}

TEST_CASE("a list has at most the keys that were asked for, in an order that stays") {
  TopKeys worker(1);
  for (std::uint64_t who = 1; who <= 30; ++who)
    add(worker, key_of(who), 1);
  CHECK(list_of({&worker}, {}).keys.size() == 20);
  CHECK(whose(list_of({&worker}, {.most = 3})) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(list_of({&worker}, {.most = 50}).keys.size() == 30);
}

TEST_CASE("a list can be that of one policy or one route") {
  TopKeys worker(1);
  add(worker, key_of(1, 1, 0), 3);
  add(worker, key_of(2, 1, 1), 2);
  add(worker, key_of(3, 2, 1), 1);
  CHECK(whose(list_of({&worker}, {.policy_id = 1})) == std::vector<std::uint64_t>{1, 2});
  CHECK(whose(list_of({&worker}, {.route_id = 1})) == std::vector<std::uint64_t>{2, 3});
  CHECK(whose(list_of({&worker}, {.policy_id = 2, .route_id = 1})) ==
        std::vector<std::uint64_t>{3});
  CHECK(list_of({&worker}, {.policy_id = 0}).keys.empty());
}

TEST_CASE("with more keys than memory each count has its error") {
  TopKeys worker(1);
  add(worker, key_of(1'000'000), 500, 500);
  for (std::uint64_t who = 1; who <= 3'000; ++who)
    add(worker, key_of(who), 1);
  const TopList list = list_of({&worker}, {.most = 1});
  CHECK(whose(list) == std::vector<std::uint64_t>{1'000'000});
  CHECK(list.keys[0].counts[0].most == 500);
  CHECK(list.keys[0].counts[0].error == 0);
  CHECK(list.total[0] == 3'500);
  CHECK(list.unseen[0] > 0);
  CHECK(list.unseen[0] <= 3'500 / TopKeys::capacity);
  const auto body = nlohmann::json::parse(json_of(list));
  CHECK(body["by"] == "requests");
  CHECK(body["window"] == 5.0);
  CHECK(body["total"]["requests"] == 3'500);
  CHECK(body["unseen"]["denied"] == 0);
  CHECK(body["keys"][0] ==
        nlohmann::json({{"hash", "000000000000000000000000000f4240"},
                        {"identity", "api_key"},
                        {"client", "192.0.2.1"},
                        {"policy", "narrow"},
                        {"route", "search"},
                        {"requests", 500},
                        {"denied", 500},
                        {"early_retries", 0},
                        {"error", {{"requests", 0}, {"denied", 0}, {"early_retries", 0}}}}));
}

TEST_CASE("a key has no more denials than requests, even if its denials are not counted") {
  TopKeys worker(1);
  add(worker, key_of(1'000'000), 500);
  for (std::uint64_t who = 1; who <= 3'000; ++who)
    add(worker, key_of(who), 3, 3);
  add(worker, key_of(1'000'001), 2);
  const TopList list = list_of({&worker}, {.most = 1'000'000});
  REQUIRE(list.unseen[1] >= 2);
  CHECK(list.keys[0].counts[0].most == 500);
  CHECK(list.keys[0].counts[1].most == list.unseen[1]);
  for (const TopKey& key : list.keys) {
    CHECK(key.counts[1].most <= key.counts[0].most);
    CHECK(key.counts[2].most <= key.counts[0].most);
    for (const TopCount& count : key.counts)
      CHECK(count.error <= count.most);
  }
}

TEST_CASE("a query of top keys is read, or refused with the values that are right") {
  const TopContext context{
      .policies = {"narrow", "wide"}, .routes = {"search", "login"}, .names = top_names};
  const auto plain = read_top_query("", context);
  REQUIRE(plain.has_value());
  CHECK(plain->by == KeyEvent::request);
  CHECK(plain->most == 20);
  CHECK_FALSE(plain->policy_id.has_value());
  const auto all = read_top_query("by=early_retries&n=1000&policy=wide&route=log%69n", context);
  REQUIRE(all.has_value());
  CHECK(all->by == KeyEvent::early_retry);
  CHECK(all->most == 1'000);
  CHECK(all->policy_id == 2U);
  CHECK(all->route_id == 1U);

  const auto [query, problem] = GENERATE(table<std::string, std::string>({
      {"by=hits", R"(by: expected requests, denied, early_retries, not "hits")"},
      {"n=0", R"(n: expected a whole number from 1 to 1000, not "0")"},
      {"n=1001", R"(n: expected a whole number from 1 to 1000, not "1001")"},
      {"n=-1", R"(n: expected a whole number from 1 to 1000, not "-1")"},
      {"n=", R"(n: expected a whole number from 1 to 1000, not "")"},
      {"policy=wiide", R"(policy: no policy has the name "wiide"; did you mean "wide"?)"},
      // A policy that is not configured any more has no keys.
      {"policy=gone", R"(policy: no policy has the name "gone"; known here: narrow, wide)"},
      {"route=x", R"(route: no route has the name "x"; known here: search, login)"},
      {"top=1", R"(unknown parameter "top"; known are by, n, policy, route)"},
      {"n=1&n=2", "the parameter n appears twice; write it once"},
  }));
  CAPTURE(query);
  const auto wrong = read_top_query(query, context);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message == problem);
}

}  // namespace weir::app
