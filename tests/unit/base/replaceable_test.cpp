#include "base/replaceable.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "catch.hpp"

using namespace weir;

TEST_CASE("all copies have the value that replaced the first one") {
  Replaceable<std::string> one("first");
  const Replaceable<std::string> copy = one;
  const auto held = copy.hold();
  const auto previous = one.replace("second");
  CHECK(*previous == "first");
  CHECK(copy.current() == "second");
  CHECK(*copy.hold() == "second");
  CHECK(*held == "first");  // as long as it is held
}

TEST_CASE("readers have one value or the other, never a mixture") {
  Replaceable<std::string> shared(std::string(100, 'a'));
  std::atomic<bool> is_over = false;
  std::atomic<int> mixtures = 0;
  std::thread reader([&] {
    while (!is_over.load()) {
      const auto value = shared.hold();
      if (value->find_first_not_of(value->front()) != std::string::npos) ++mixtures;
    }
  });
  for (int i = 0; i < 10'000; ++i)
    shared.replace(std::string(100, static_cast<char>('a' + i % 26)));
  is_over = true;
  reader.join();
  CHECK(mixtures == 0);
}
