#include "upstream/health.hpp"

#include <string>

#include "catch.hpp"

namespace weir::upstream {
namespace {

TEST_CASE("the health of a server follows from its checks") {
  const struct {
    int rise, fall;
    std::string checks;  ///< + good, - failed
    std::string states;  ///< after each: U up, D down
  } cases[] = {
      // The first check decides alone.
      {2, 3, "+", "U"},
      {2, 3, "-", "D"},
      {2, 3, "-+", "DD"},
      {2, 3, "-++", "DDU"},
      // Three failures in a row mark it down; a success in between resets the count.
      {2, 3, "+--", "UUU"},
      {2, 3, "+---", "UUUD"},
      {2, 3, "+--+--+---", "UUUUUUUUUD"},
      // Two successes in a row mark it up again.
      {2, 3, "-+-+-++", "DDDDDDU"},
      {1, 1, "+-+-", "UDUD"},
      {1, 2, "-+--+", "DUUDU"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.rise, one.fall, one.checks);
    Health health(one.rise, one.fall);
    CHECK(health.is_up());
    std::string states;
    for (const char check : one.checks) {
      const bool before = health.is_up();
      const bool changed = health.observe(check == '+');
      CHECK(changed == (before != health.is_up()));
      states += health.is_up() ? 'U' : 'D';
    }
    CHECK(states == one.states);
  }
}

}  // namespace
}  // namespace weir::upstream
