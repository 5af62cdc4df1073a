#include "app/server_watch.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

using Change = ServerWatch::Change;

TEST_CASE("the first worker that leaves a server out and the last that takes it back are told of") {
  ServerWatch watch;
  CHECK(watch.tell("b 1", false) == Change::lost);
  CHECK(watch.tell("b 1", false) == Change::none);
  CHECK(watch.tell("b 0", false) == Change::lost);
  CHECK(watch.tell("a 0", false) == Change::lost);
  CHECK(watch.tell("b 1", true) == Change::none);
  CHECK(watch.tell("b 1", true) == Change::back);
  CHECK(watch.tell("b 1", false) == Change::lost);
}

TEST_CASE("a server that was left out and removed begins again when it is configured again") {
  ServerWatch watch;
  CHECK(watch.tell("a", false) == Change::lost);
  CHECK(watch.tell("a", false) == Change::none);
  watch.remove("a");
  watch.remove("a");
  CHECK(watch.tell("a", false) == Change::lost);
  CHECK(watch.tell("a", true) == Change::back);
}

}  // namespace
}  // namespace weir::app
