#include "redis/outcomes.hpp"

#include "catch.hpp"
#include "redis/answer.hpp"

using namespace weir;
using namespace weir::redis;
using store::Error;

namespace {

struct OutcomesFixture {
  std::uint64_t errors(Error error) const {
    return counters.errors[static_cast<std::size_t>(error)].value();
  }
  void decide() { outcomes.on_result({.admitted = true, .decided = 1}); }

  StoreCounters counters;
  Outcomes outcomes{counters};
};

}  // namespace

TEST_CASE("a store has decided when the last result of its connection is a decision") {
  OutcomesFixture fixture;
  CHECK_FALSE(fixture.outcomes.has_decided());
  fixture.decide();
  CHECK(fixture.outcomes.has_decided());
  SECTION("until an error") {
    fixture.outcomes.on_result(failed(Error::timeout));
    CHECK_FALSE(fixture.outcomes.has_decided());
    CHECK(fixture.errors(Error::timeout) == 1);
    fixture.decide();
    CHECK(fixture.outcomes.has_decided());
  }
  SECTION("until the next connection") {
    fixture.outcomes.on_ready();
    CHECK_FALSE(fixture.outcomes.has_decided());
  }
  SECTION("a key that was forgotten changes nothing") {
    fixture.outcomes.on_result(failed(Error::none));
    CHECK(fixture.outcomes.has_decided());
    fixture.outcomes.on_ready();
    fixture.outcomes.on_result(failed(Error::none));
    CHECK_FALSE(fixture.outcomes.has_decided());
  }
}

TEST_CASE("the last error lasts until a reply without one, or the next connection") {
  OutcomesFixture fixture;
  CHECK(fixture.outcomes.last_error().empty());
  fixture.outcomes.on_error_reply(Error::out_of_memory, "OOM\r\nnot allowed");
  CHECK(fixture.outcomes.last_error() == "OOM??not allowed");
  SECTION("a reply") {
    fixture.outcomes.on_reply();
  }
  SECTION("a connection") {
    fixture.outcomes.on_ready();
    CHECK(fixture.counters.connects.value() == 1);
  }
  CHECK(fixture.outcomes.last_error().empty());
  CHECK(fixture.outcomes.last_reply(Error::out_of_memory) == "OOM??not allowed");
}

TEST_CASE("the last text of each kind of error is kept") {
  OutcomesFixture fixture;
  fixture.outcomes.on_error_reply(Error::other, "ERR one");
  fixture.outcomes.on_error_reply(Error::read_only, "READONLY");
  fixture.outcomes.on_error_reply(Error::other, "ERR two");
  CHECK(fixture.outcomes.last_error() == "ERR two");
  CHECK(fixture.outcomes.last_reply(Error::other) == "ERR two");
  CHECK(fixture.outcomes.last_reply(Error::read_only) == "READONLY");
  CHECK(fixture.outcomes.last_reply(Error::loading).empty());
}

TEST_CASE("errors are counted by kind, late replies for themselves") {
  OutcomesFixture fixture;
  fixture.decide();
  fixture.outcomes.on_result(failed(Error::none));
  fixture.outcomes.on_result(failed(Error::loading));
  fixture.outcomes.on_result(failed(Error::loading));
  fixture.outcomes.on_late_reply();
  CHECK(fixture.errors(Error::none) == 0);
  CHECK(fixture.errors(Error::loading) == 2);
  CHECK(fixture.errors(Error::timeout) == 0);
  CHECK(fixture.counters.late_answers.value() == 1);
}
