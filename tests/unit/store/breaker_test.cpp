#include "store/breaker.hpp"

#include <vector>

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {
namespace {

enum class Event { asked, succeeded, failed };
using State = Breaker::State;

struct Step {
  Duration at;
  Event event;
  bool result;  ///< asked: let through; failed: that opened it
  State after;
};

void run(std::initializer_list<Step> steps) {
  Breaker breaker(3, 1s);
  int number = 0;
  for (const Step& step : steps) {
    CAPTURE(number++);
    const Instant now = epoch + step.at;
    switch (step.event) {
      case Event::asked:
        CHECK(breaker.lets_through(now) == step.result);
        break;
      case Event::succeeded:
        breaker.succeeded();
        break;
      case Event::failed:
        CHECK(breaker.failed(now) == step.result);
        break;
    }
    CHECK(breaker.state() == step.after);
  }
}

}  // namespace

TEST_CASE("Consecutive errors open the breaker, and a success starts the count again") {
  run({{0ms, Event::asked, true, State::closed},
       {0ms, Event::failed, false, State::closed},
       {1ms, Event::failed, false, State::closed},
       {2ms, Event::succeeded, false, State::closed},
       {3ms, Event::failed, false, State::closed},
       {4ms, Event::failed, false, State::closed},
       {5ms, Event::asked, true, State::closed},
       {5ms, Event::failed, true, State::open},
       {5ms, Event::asked, false, State::open}});
}

TEST_CASE("After retry_after exactly one question goes through, and its result counts") {
  run({{0ms, Event::failed, false, State::closed},
       {0ms, Event::failed, false, State::closed},
       {0ms, Event::failed, true, State::open},
       {999'999us, Event::asked, false, State::open},
       {1s, Event::asked, true, State::half_open},
       {1s, Event::asked, false, State::half_open},
       {5s, Event::asked, false, State::half_open},
       // its failure opens it again, from then
       {5s, Event::failed, true, State::open},
       {5'999'999us, Event::asked, false, State::open},
       {6s, Event::asked, true, State::half_open},
       // its success closes it, with a full count
       {6s, Event::succeeded, false, State::closed},
       {6s, Event::asked, true, State::closed},
       {6s, Event::asked, true, State::closed},
       {6s, Event::failed, false, State::closed},
       {6s, Event::failed, false, State::closed},
       {6s, Event::failed, true, State::open}});
}

TEST_CASE("While it is open, results of earlier questions change nothing") {
  run({{0ms, Event::failed, false, State::closed},
       {0ms, Event::failed, false, State::closed},
       {0ms, Event::failed, true, State::open},
       {10ms, Event::succeeded, false, State::open},
       // the next question is not delayed by it
       {500ms, Event::failed, false, State::open},
       {1s, Event::asked, true, State::half_open}});
}

TEST_CASE("Other values apply at once, also while it is open") {
  Breaker breaker(3, 1h);
  CHECK_FALSE(breaker.failed(epoch));
  breaker.set(2, 1h);
  CHECK(breaker.failed(epoch));
  CHECK_FALSE(breaker.lets_through(epoch + 1s));
  breaker.set(2, 1s);
  CHECK_FALSE(breaker.lets_through(epoch + 999'999us));
  CHECK(breaker.lets_through(epoch + 1s));
  CHECK(breaker.failed(epoch + 2s));
  CHECK_FALSE(breaker.lets_through(epoch + 2'999'999us));
  breaker.set(2, 2s);
  CHECK_FALSE(breaker.lets_through(epoch + 3s));
  CHECK(breaker.lets_through(epoch + 4s));
}

TEST_CASE("A breaker of one failure opens at the first") {
  Breaker breaker(1, 1s);
  CHECK(breaker.failed(epoch));
  CHECK_FALSE(breaker.lets_through(epoch));
}

}  // namespace weir::store::test
