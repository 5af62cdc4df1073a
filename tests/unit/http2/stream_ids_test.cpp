#include "http2/stream_ids.hpp"

#include "catch.hpp"

namespace weir::http2 {
namespace {

TEST_CASE("identifiers between two streams were skipped") {
  StreamIds ids;
  CHECK(ids.note(1));
  CHECK(ids.note(3));
  CHECK_FALSE(ids.was_skipped(1));
  CHECK_FALSE(ids.was_skipped(5));
  CHECK(ids.note(9));
  CHECK_FALSE(ids.note(3));  // trailers
  CHECK(ids.was_skipped(5));
  CHECK(ids.was_skipped(7));
  CHECK_FALSE(ids.was_skipped(9));
  CHECK_FALSE(ids.was_skipped(3));
}

TEST_CASE("the first stream may skip identifiers, too") {
  StreamIds ids;
  ids.note(5);
  CHECK(ids.was_skipped(1));
  CHECK(ids.was_skipped(3));
}

TEST_CASE("the oldest of many gaps is forgotten") {
  StreamIds ids;
  for (std::int32_t id = 5; id < 5 + 17 * 4; id += 4)
    ids.note(id);
  CHECK_FALSE(ids.was_skipped(3));
  CHECK(ids.was_skipped(7));
}

}  // namespace
}  // namespace weir::http2
