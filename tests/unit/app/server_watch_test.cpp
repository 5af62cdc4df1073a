#include "app/worker.hpp"
#include "catch.hpp"

namespace weir::app {
namespace {

using Change = ServerWatch::Change;

TEST_CASE("the first worker to mark a server down and the last to mark it up are a change") {
  ServerWatch watch;
  CHECK(watch.report("b 1", false) == Change::down);
  CHECK(watch.report("b 1", false) == Change::none);
  CHECK(watch.report("b 0", false) == Change::down);
  CHECK(watch.report("a 0", false) == Change::down);
  CHECK(watch.report("b 1", true) == Change::none);
  CHECK(watch.report("b 1", true) == Change::up);
  CHECK(watch.report("b 1", false) == Change::down);
}

TEST_CASE("a server that was removed while down starts afresh when it is configured again") {
  ServerWatch watch;
  CHECK(watch.report("a", false) == Change::down);
  CHECK(watch.report("a", false) == Change::none);
  watch.remove("a");
  watch.remove("a");
  CHECK(watch.report("a", false) == Change::down);
  CHECK(watch.report("a", true) == Change::up);
}

}  // namespace
}  // namespace weir::app
