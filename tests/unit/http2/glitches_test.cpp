#include "http2/glitches.hpp"

#include "catch.hpp"

namespace weir::http2 {
namespace {

using State = Glitches::State;

TEST_CASE("a connection is suspect at three quarters of its budget, and over at the end of it") {
  Glitches glitches(8);
  for (int i = 0; i < 5; ++i)
    glitches.note();
  CHECK(glitches.state() == State::good);
  glitches.note();
  CHECK(glitches.state() == State::suspect);
  glitches.note();
  CHECK(glitches.state() == State::suspect);
  glitches.note();
  CHECK(glitches.state() == State::spent);
  CHECK(glitches.count() == 8);
}

TEST_CASE("four streams that end in order forgive one glitch") {
  Glitches glitches(4);
  glitches.note();
  glitches.note();
  for (int i = 0; i < 7; ++i)
    glitches.forgive();
  CHECK(glitches.count() == 1);
  glitches.forgive();
  CHECK(glitches.count() == 0);
  for (int i = 0; i < 4; ++i)
    glitches.forgive();
  CHECK(glitches.count() == 0);
}

TEST_CASE("without a budget nothing is a reason to end") {
  Glitches glitches(0);
  for (int i = 0; i < 100'000; ++i)
    glitches.note();
  CHECK(glitches.state() == State::good);
}

TEST_CASE("a budget of one ends with the first glitch") {
  Glitches glitches(1);
  CHECK(glitches.state() == State::good);
  glitches.note();
  CHECK(glitches.state() == State::spent);
}

}  // namespace
}  // namespace weir::http2
