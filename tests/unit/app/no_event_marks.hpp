// The marks of events of a shared store that nobody sets.
#pragma once

#include "catch.hpp"
#include "store/event_marks.hpp"

namespace weir::app {

struct NoEventMarks final : store::EventMarks {
  void mark(const store::EventMark&, Instant, Done) override { FAIL("a mark was set"); }
  void read_generation(OnGeneration) override { FAIL("the generation was read"); }
};

}  // namespace weir::app
