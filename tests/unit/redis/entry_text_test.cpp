#include "redis/entry_text.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;

TEST_CASE("An entry is read with its attributes, which may be empty") {
  const auto entry = entry_in("1700000010500000\t3\t5\t1700000010000000\talice\t\tcurl/8.0");
  REQUIRE(entry);
  CHECK(entry->at == instant_from_us(1'700'000'010'500'000));
  CHECK(entry->units == 3);
  CHECK(entry->attributes == std::vector<std::string>{"alice", "", "curl/8.0"});
  CHECK(entry_in("1\t1\t1\t1\t")->attributes == std::vector<std::string>{""});
}

TEST_CASE("A text that no script of Weir writes is no entry") {
  for (const char* text : {"", "x", "1\t1\t1", "1\t1\t1\t", "-1\t1\t1\t1\ta", "1\t1.5\t1\t1\ta",
                           "1\t1\t99999999999999999999\t1\ta"}) {
    CAPTURE(text);
    CHECK_FALSE(entry_in(text));
  }
}

TEST_CASE("The key of entries is that of the policy's counter") {
  CHECK(entries_key("weir:", {.low = 2, .high = 1}, "watched") ==
        "weir:{00000000000000010000000000000002}:watched:a1");
}
