#include "base/named_hits.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "catch.hpp"

namespace weir {

TEST_CASE("Hits are counted by name, up to a number of names and a length") {
  NamedHits names;
  const std::string longest(NamedHits::most_name_bytes, 'x');
  HitCounters* const first = names.find_or_add(longest);
  REQUIRE(first != nullptr);
  first->total.add(3);
  CHECK(names.find_or_add(longest + 'x') == nullptr);
  for (std::size_t i = 1; i < NamedHits::most_names; ++i)
    REQUIRE(names.find_or_add(std::to_string(i)) != nullptr);
  CHECK(names.find_or_add("one more") == nullptr);
  CHECK(names.find_or_add(longest) == first);
  CHECK(names.find_or_add("1") != nullptr);

  std::size_t count = 0;
  std::string earliest;
  names.each([&](std::string_view name, const HitCounters& hits) {
    ++count;
    earliest = name;
    CHECK(hits.total.value() == (name == longest ? 3 : 0));
  });
  CHECK(count == NamedHits::most_names);
  CHECK(earliest == longest);
}

TEST_CASE("Names are read while others are added") {
  NamedHits names;
  std::atomic<bool> is_done = false;
  std::thread worker([&] {
    for (std::size_t i = 0; i < NamedHits::most_names; ++i)
      names.find_or_add(std::to_string(i))->total.add();
    is_done = true;
  });
  std::size_t last = 0;
  for (bool is_last = false; !is_last;) {
    is_last = is_done;
    std::size_t count = 0;
    names.each([&](std::string_view name, const HitCounters& hits) {
      ++count;
      if (name.empty() || hits.total.value() > 1) count = 0;
    });
    if (count < last) break;
    last = count;
  }
  worker.join();
  CHECK(last == NamedHits::most_names);
}

}  // namespace weir
