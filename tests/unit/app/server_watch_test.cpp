#include "app/server_watch.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

using Change = ServerWatch::Change;

TEST_CASE("the first worker to leave a server out and the last to use it again are reported") {
  ServerWatch watch;
  CHECK(watch.report("b 1", false) == Change::lost);
  CHECK(watch.report("b 1", false) == Change::none);
  CHECK(watch.report("b 0", false) == Change::lost);
  CHECK(watch.report("a 0", false) == Change::lost);
  CHECK(watch.report("b 1", true) == Change::none);
  CHECK(watch.report("b 1", true) == Change::back);
  CHECK(watch.report("b 1", false) == Change::lost);
}

TEST_CASE("a server that was left out and removed begins again when it is configured again") {
  ServerWatch watch;
  CHECK(watch.report("a", false) == Change::lost);
  CHECK(watch.report("a", false) == Change::none);
  watch.remove("a");
  watch.remove("a");
  CHECK(watch.report("a", false) == Change::lost);
  CHECK(watch.report("a", true) == Change::back);
}

}  // namespace
}  // namespace weir::app
