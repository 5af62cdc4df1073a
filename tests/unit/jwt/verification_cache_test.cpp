#include "jwt/verification_cache.hpp"

#include <deque>
#include <map>
#include <random>
#include <string>

#include "catch.hpp"

namespace weir::jwt {
namespace {

constexpr Instant cached_at(int s) {
  return Instant{std::chrono::seconds(s)};
}
Hash128 token(std::uint64_t number) {
  return {.low = number, .high = ~number};
}
struct Kept {
  std::string subject;
  ValidUntil until;
  const ValidUntil& valid_until() const { return until; }
};
using Cache = VerificationCache<Kept>;
Kept verified(const char* subject, ValidUntil until) {
  return {.subject = subject, .until = until};
}

}  // namespace

TEST_CASE("a verified token is found until its validity ends") {
  Cache cache;
  CHECK(cache.find_valid(token(1), cached_at(0)) == nullptr);
  cache.add(token(1), verified("alice", cached_at(10)));
  cache.add(token(2), verified("bob", std::nullopt));
  REQUIRE(cache.find_valid(token(1), cached_at(9)) != nullptr);
  CHECK(cache.find_valid(token(1), cached_at(9))->subject == "alice");
  CHECK(cache.find_valid(token(1), cached_at(10)) == nullptr);
  CHECK(cache.find_valid(token(1), cached_at(9)) ==
        nullptr);  // the clock went back; it is verified again
  CHECK(cache.find_valid(token(2), cached_at(1'000'000)) != nullptr);
  CHECK_FALSE(cache.find_rejected(token(2)));
}

TEST_CASE("a rejection is kept unless time alone may end it") {
  Cache cache;
  cache.add(token(1), Rejection::bad_signature);
  cache.add(token(2), Rejection::not_yet_valid);
  cache.add(token(3), Rejection::issued_in_future);
  cache.add(token(4), Rejection::expired);
  CHECK(cache.find_rejected(token(1)) == Rejection::bad_signature);
  CHECK_FALSE(cache.find_rejected(token(2)));
  CHECK_FALSE(cache.find_rejected(token(3)));
  CHECK(cache.find_rejected(token(4)) == Rejection::expired);
  cache.clear();
  CHECK_FALSE(cache.find_rejected(token(1)));
  CHECK(cache.size() == 0);
}

TEST_CASE("rejected tokens displace no valid one, and both tables are bounded") {
  Cache cache;
  cache.add(token(0), verified("alice", std::nullopt));
  for (std::uint64_t i = 1; i <= 10 * Cache::most_valid; ++i)
    cache.add(token(i), Rejection::bad_signature);
  CHECK(cache.size() <= Cache::most_rejected + 1);
  CHECK(cache.find_valid(token(0), cached_at(0)) != nullptr);
  for (std::uint64_t i = 1; i <= 3 * Cache::most_valid; ++i)
    cache.add(token(i), verified("many", std::nullopt));
  CHECK(cache.size() <= Cache::most_rejected + Cache::most_valid);
  CHECK(cache.find_valid(token(0), cached_at(0)) == nullptr);
}

TEST_CASE("a table has the half of its values that was used last, whatever the history") {
  constexpr std::size_t most = 16;
  std::mt19937 random(7);
  RecentTable<int> table(most);
  std::deque<std::uint64_t> used;  // the last first
  std::map<std::uint64_t, int> values;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t number = random() % 40;
    const int* const found = table.find(token(number));
    const auto place = std::find(used.begin(), used.end(), number);
    const bool is_recent = place - used.begin() < static_cast<std::ptrdiff_t>(most / 2);
    if (place != used.end() && is_recent) REQUIRE(found != nullptr);
    if (found != nullptr) {
      REQUIRE(values.contains(number));
      REQUIRE(*found == values[number]);
    } else {
      values[number] = step;
      table.insert(token(number), step);
    }
    if (place != used.end()) used.erase(place);
    used.push_front(number);
    REQUIRE(table.size() <= most);
  }
}

}  // namespace weir::jwt
