#include "telemetry/span_queue.hpp"

#include <new>

#include "catch.hpp"

namespace weir::telemetry {
namespace {

void add(SpanQueue& queue, const std::string& span) {
  queue.add([&](std::string& out) { out += span; });
}

}  // namespace

TEST_CASE("a queue that is not in use takes nothing and counts nothing") {
  SpanQueue queue;
  bool was_made = false;
  queue.add([&](std::string&) { was_made = true; });
  std::string taken;
  CHECK(queue.take(10, taken) == 0);
  CHECK(taken.empty());
  CHECK_FALSE(was_made);
  CHECK(queue.dropped() == 0);
}

TEST_CASE("spans are taken in their order, with commas, and no more than asked for") {
  SpanQueue queue;
  queue.set_most(4);
  for (const char* const span : {"a", "b", "c"})
    add(queue, span);
  std::string taken;
  CHECK(queue.take(2, taken) == 2);
  CHECK(queue.size() == 1);
  CHECK(queue.take(2, taken) == 1);
  CHECK(taken == "a,b,c");
  CHECK(queue.take(2, taken) == 0);
  CHECK(queue.dropped() == 0);
}

TEST_CASE("a span without room is not made, and is counted") {
  SpanQueue queue;
  queue.set_most(2);
  for (const char* const span : {"a", "b"})
    add(queue, span);
  bool was_made = false;
  queue.add([&](std::string&) { was_made = true; });
  CHECK_FALSE(was_made);
  CHECK(queue.dropped() == 1);
  std::string taken;
  queue.take(1, taken);
  add(queue, "c");
  CHECK(queue.take(5, taken) == 2);
  CHECK(taken == "a,b,c");
}

TEST_CASE("a span that cannot be made is counted") {
  SpanQueue queue;
  queue.set_most(2);
  queue.add([](std::string&) { throw std::bad_alloc(); });
  CHECK(queue.size() == 0);
  CHECK(queue.dropped() == 1);
}

TEST_CASE("spans that wait when export ends are dropped and counted") {
  SpanQueue queue;
  queue.set_most(8);
  add(queue, "a");
  add(queue, "b");
  queue.set_most(0);
  CHECK(queue.size() == 0);
  CHECK(queue.dropped() == 2);
  add(queue, "c");
  CHECK(queue.dropped() == 2);
}

}  // namespace weir::telemetry
