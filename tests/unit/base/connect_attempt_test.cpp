#include "base/connect_attempt.hpp"

#include "catch.hpp"

using namespace weir;
using namespace std::chrono_literals;

namespace {

constexpr ConnectAttempt::Time start{std::chrono::hours(1000)};

}  // namespace

TEST_CASE("an attempt has one address, which has all its time") {
  ConnectAttempt attempt;
  attempt.begin(start, 500ms);
  CHECK(attempt.deadline() == start + 500ms);
  CHECK_FALSE(attempt.is_over(start + 500ms - 1us));
  CHECK(attempt.is_over(start + 500ms));
  REQUIRE(attempt.has_next());
  const auto address = attempt.next(start);
  CHECK(address.index == 0);
  CHECK(address.until == start + 500ms);
  CHECK_FALSE(attempt.has_next());
}

TEST_CASE("the addresses of a name share what the lookup leaves, in their order") {
  struct Row {
    Duration at;
    Duration until;
  };
  ConnectAttempt attempt;
  attempt.begin(start, 500ms);
  attempt.set_addresses(3);
  std::size_t index = 0;
  // The lookup takes 200 ms; the second address fails at once.
  for (const auto& [at, until] : {Row{200ms, 300ms}, Row{300ms, 400ms}, Row{310ms, 500ms}}) {
    CAPTURE(at.count());
    REQUIRE(attempt.has_next());
    const auto address = attempt.next(start + at);
    CHECK(address.index == index++);
    CHECK(address.until == start + until);
  }
  CHECK_FALSE(attempt.has_next());
}

TEST_CASE("an attempt begins again with one address and all its time") {
  ConnectAttempt attempt;
  attempt.begin(start, 500ms);
  attempt.set_addresses(2);
  attempt.next(start);
  attempt.begin(start + 10s, 100ms);
  CHECK_FALSE(attempt.is_over(start + 10s));
  const auto address = attempt.next(start + 10s);
  CHECK(address.index == 0);
  CHECK(address.until == start + 10s + 100ms);
  CHECK_FALSE(attempt.has_next());
}
