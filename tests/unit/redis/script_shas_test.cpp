#include "redis/script_shas.hpp"

#include "catch.hpp"

using namespace weir;

TEST_CASE("a script has no SHA until it is loaded, then the last one") {
  redis::ScriptShas shas;
  CHECK(shas.sha(0).empty());
  shas.set(2, "c");
  CHECK(shas.sha(0).empty());
  CHECK(shas.sha(1).empty());
  CHECK(shas.sha(2) == "c");
  CHECK(shas.sha(3).empty());
  shas.set(0, "a");
  shas.set(2, "other");
  CHECK(shas.sha(0) == "a");
  CHECK(shas.sha(2) == "other");
}
