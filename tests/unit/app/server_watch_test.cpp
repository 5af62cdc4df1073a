#include "app/server_watch.hpp"

#include "catch.hpp"

namespace weir::app {
namespace {

TEST_CASE("the first worker that leaves a server out and the last that takes it back are told of") {
  using Change = ServerWatch::Change;
  config::Config config;
  config.upstreams.resize(2);
  config.upstreams[0].servers.resize(1);
  config.upstreams[1].servers.resize(2);
  ServerWatch watch(config);
  CHECK(watch.tell(1, 1, false) == Change::lost);
  CHECK(watch.tell(1, 1, false) == Change::none);
  CHECK(watch.tell(1, 0, false) == Change::lost);
  CHECK(watch.tell(0, 0, false) == Change::lost);
  CHECK(watch.tell(1, 1, true) == Change::none);
  CHECK(watch.tell(1, 1, true) == Change::back);
  CHECK(watch.tell(1, 1, false) == Change::lost);
}

}  // namespace
}  // namespace weir::app
