#include "base/space_saving.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

using namespace weir;

namespace {

using Sketch = SpaceSaving<int, int>;
using Counted = Sketch::Summary;
using Exact = std::map<int, std::uint64_t>;

void add(Sketch& sketch, int key) {
  sketch.add(key, static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15 >> 40, key + 1);
}

void add(Sketch& sketch, Exact& exact, int key) {
  add(sketch, key);
  ++exact[key];
}

std::optional<Counted::Entry> find(const Counted& counted, int key) {
  for (const auto& entry : counted.entries) {
    if (entry.key == key) return entry;
  }
  return std::nullopt;
}

/// The guarantees of the header, for `capacity` entries.
void check(const Counted& counted, const Exact& exact, std::size_t capacity) {
  std::uint64_t total = 0;
  for (const auto& [key, count] : exact)
    total += count;
  REQUIRE(counted.total == total);
  REQUIRE(counted.unseen <= total / capacity);
  std::map<int, int> listed;
  for (const auto& entry : counted.entries) {
    INFO("key " << entry.key << " count " << entry.count << " error " << entry.error);
    REQUIRE(++listed[entry.key] == 1);
    REQUIRE(entry.note == entry.key + 1);
    REQUIRE(entry.error <= total / capacity);
    const auto found = exact.find(entry.key);
    REQUIRE(found != exact.end());
    REQUIRE(found->second <= entry.count);
    REQUIRE(entry.count - entry.error <= found->second);
  }
  for (const auto& [key, count] : exact) {
    INFO("key " << key << " has occurred " << count << " times of " << total);
    if (!listed.contains(key)) REQUIRE(count <= counted.unseen);
    if (count > total / capacity) REQUIRE(listed.contains(key));
  }
}

/// A key of 1, 2, ... with a probability in proportion to 1 / key^s.
class Zipf {
 public:
  Zipf(int keys, double s) {
    std::vector<double> weights;
    for (int key = 1; key <= keys; ++key)
      weights.push_back(1 / std::pow(key, s));
    distribution_ = std::discrete_distribution<int>(weights.begin(), weights.end());
  }
  int operator()(std::mt19937& random) { return 1 + distribution_(random); }

 private:
  std::discrete_distribution<int> distribution_;
};

}  // namespace

TEST_CASE("counts are exact while there are no more keys than entries") {
  Sketch sketch(3);
  Exact exact;
  for (const int key : {7, 8, 7, 9, 7, 8})
    add(sketch, exact, key);
  const Counted counted = sketch.summary();
  CHECK(counted.total == 6);
  CHECK(counted.entries.size() == 3);
  for (const auto& entry : counted.entries) {
    CHECK(entry.error == 0);
    CHECK(entry.count == exact[entry.key]);
  }
  CHECK(counted.unseen == 1);  // a fourth key would have replaced 9
}

TEST_CASE("nothing is unseen while an entry is free") {
  Sketch sketch(2);
  CHECK(sketch.summary().unseen == 0);
  add(sketch, 1);
  CHECK(sketch.summary().unseen == 0);
  add(sketch, 2);
  CHECK(sketch.summary().unseen == 1);
}

TEST_CASE("a new key replaces one with the least count, which becomes its error") {
  Sketch sketch(2);
  for (const int key : {1, 1, 1, 2, 2, 3})
    add(sketch, key);
  const Counted counted = sketch.summary();
  const auto third = find(counted, 3);
  REQUIRE(third);
  CHECK(third->count == 3);
  CHECK(third->error == 2);
  CHECK(third->note == 4);
  CHECK(find(counted, 1)->count == 3);
  CHECK_FALSE(find(counted, 2));
}

TEST_CASE("a cleared sketch has no keys") {
  Sketch sketch(2);
  for (int key = 0; key < 10; ++key)
    add(sketch, key);
  sketch.clear();
  CHECK(sketch.summary().entries.empty());
  CHECK(sketch.summary().total == 0);
  Exact exact;
  for (const int key : {4, 5, 6, 6})
    add(sketch, exact, key);
  check(sketch.summary(), exact, 2);
}

TEST_CASE("the bounds hold for random streams") {
  std::mt19937 random{TestSeed{}};
  for (const std::size_t capacity : {1U, 2U, 7U, 64U, 100U}) {
    for (const double s : {0.0, 0.8, 1.0, 1.5}) {
      INFO("capacity " << capacity << ", Zipf " << s);
      Sketch sketch(capacity);
      Exact exact;
      Zipf zipf(1000, s);
      for (int i = 1; i <= 6000; ++i) {
        add(sketch, exact, zipf(random));
        if (i % 1500 == 0) check(sketch.summary(), exact, capacity);
      }
    }
  }
}

TEST_CASE("the bounds hold for streams that replace entries as often as possible") {
  constexpr std::size_t capacity = 16;
  const std::vector<std::function<int(int)>> streams{
      [](int i) { return i; },                                // each key once
      [](int i) { return i % 17; },                           // one more key than entries
      [](int i) { return i % 3 == 0 ? -1 : i; },              // one heavy key among new ones
      [](int i) { return i < 2000 ? i % 16 : i; },            // a new crowd after a stable one
      [](int i) { return i < 3000 ? i : 100'000 + i % 16; },  // the other way round
      [](int i) { return i % (1 + i / 100); },                // ever more keys
  };
  for (std::size_t n = 0; n < streams.size(); ++n) {
    INFO("stream " << n);
    Sketch sketch(capacity);
    Exact exact;
    for (int i = 0; i < 5000; ++i) {
      add(sketch, exact, streams[n](i));
      if (i % 499 == 0) check(sketch.summary(), exact, capacity);
    }
    check(sketch.summary(), exact, capacity);
  }
}

TEST_CASE("keys of one place are counted apart") {
  Sketch sketch(8);
  Exact exact;
  std::mt19937 random{TestSeed{}};
  Zipf zipf(40, 1.0);
  for (int i = 0; i < 2000; ++i) {
    const int key = zipf(random);
    sketch.add(key, 5, key + 1);
    ++exact[key];
  }
  check(sketch.summary(), exact, 8);
}

TEST_CASE("merged summaries keep the bounds for the sum of their streams") {
  std::mt19937 random{TestSeed{}};
  for (int round = 0; round < 20; ++round) {
    constexpr std::size_t capacity = 32;
    Exact exact;
    std::vector<Counted> parts;
    const int count = 1 + round % 6;
    for (int part = 0; part < count; ++part) {
      Sketch sketch(capacity);
      Zipf zipf(10 + 200 * part, 1.1);
      const int length = std::uniform_int_distribution<int>(0, 3000)(random);
      const int shift = part % 2 * 5;  // parts share some keys and not others
      for (int i = 0; i < length; ++i)
        add(sketch, exact, zipf(random) + shift);
      parts.push_back(sketch.summary());
    }
    INFO("round " << round);
    check(merged(std::span<const Counted>(parts)), exact, capacity);
    // Merging is associative, as far as the bounds go.
    const auto first = std::span<const Counted>(parts).first(parts.size() / 2);
    const auto last = std::span<const Counted>(parts).subspan(parts.size() / 2);
    const std::array<Counted, 2> halves{merged(first), merged(last)};
    check(merged(std::span<const Counted>(halves)), exact, capacity);
  }
}

TEST_CASE("nothing merged is nothing") {
  const Counted counted = merged(std::span<const Counted>());
  CHECK(counted.entries.empty());
  CHECK(counted.total == 0);
  CHECK(counted.unseen == 0);
}
