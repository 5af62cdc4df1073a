#include "admin/process_stats.hpp"

#include "catch.hpp"

using weir::Duration;
using weir::admin::parse_proc_stat;

TEST_CASE("parse_proc_stat reads the fields of proc(5), whatever the program's name") {
  for (const std::string name : {"weir", "a b", ") S 1 (", "((", "x) R"}) {
    CAPTURE(name);
    const auto stats =
        parse_proc_stat("42 (" + name +
                            ") S 1 42 42 0 -1 4194560 900 0 3 0 150 50 7 8 20 0 3 0 1000 8192 5 "
                            "18446744073709551615",
                        {.ticks_per_second = 100, .page_size = 4096, .booted_at_s = 1'000'000});
    REQUIRE(stats);
    CHECK(stats->cpu == Duration{2'000'000});
    CHECK(stats->resident_bytes == 5 * 4096);
    CHECK(stats->virtual_bytes == 8192);
    CHECK(stats->started_at_s == 1'000'010);
  }
}

TEST_CASE("parse_proc_stat refuses malformed lines") {
  for (const char* const line :
       {"", "42", "42 (weir", "42 (weir) S 1 2 3", "42 (weir) S a b c d e f g h i j k l m"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_proc_stat(line, {}));
  }
}

TEST_CASE("read_process_stats reads this process") {
  const auto stats = weir::admin::read_process_stats();
  CHECK(stats.resident_bytes > 100'000);
  CHECK(stats.virtual_bytes >= stats.resident_bytes);
  CHECK(stats.open_descriptors >= 3);
  CHECK(stats.max_descriptors >= stats.open_descriptors);
  CHECK(stats.started_at_s > 1'500'000'000);
}
