#include "cli/go_duration.hpp"

#include <chrono>

#include "catch.hpp"

namespace weir::cli {
namespace {

using namespace std::chrono_literals;

TEST_CASE("durations of Go have several units, fractions and a sign") {
  struct Row {
    const char* text;
    Duration duration;
  };
  const Row rows[] = {
      {"0", 0us},         {"0s", 0us},
      {"+5s", 5s},        {"1h30m", 90min},
      {"1m30s", 90s},     {"100ms", 100ms},
      {"1.5h", 90min},    {".5s", 500ms},
      {"1.s", 1s},        {"2us", 2us},
      {"2\u00b5s", 2us},  {"2\u03bcs", 2us},
      {"1ns", 1us},       {"1500ns", 2us},
      {"1s1s", 2s},       {"1h0.5s2ms", 1h + 502ms},
      {"0.000001s", 1us}, {"1.0000000000001s", 1s},
  };
  for (const auto& [text, duration] : rows) {
    CAPTURE(text);
    CHECK(go_duration(text) == duration);
  }
}

TEST_CASE("other texts are no durations of Go") {
  for (const char* const text : {"", "5", "s", ".s", "-5s", "1d", "1h30", " 1s", "1s ", "1 s",
                                 "1,5s", "+", "1e3s", "99999999999999999999s", "90000h"}) {
    CAPTURE(text);
    CHECK_FALSE(go_duration(text));
  }
}

}  // namespace
}  // namespace weir::cli
