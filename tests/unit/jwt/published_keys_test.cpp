#include "jwt/published_keys.hpp"

#include <thread>
#include <vector>

#include "catch.hpp"

namespace weir::jwt {

TEST_CASE("each publication has the next number, and replaces the set") {
  PublishedKeys keys;
  CHECK(keys.number() == 0);
  CHECK(keys.edition().keys == nullptr);
  CHECK(keys.edition().number == 0);
  const auto first = std::make_shared<const KeySet>();
  const auto second = std::make_shared<const KeySet>();
  std::uint64_t number = 0;
  for (const auto& set : {first, second, second, first}) {
    keys.publish(set);
    CHECK(keys.number() == ++number);
    CHECK(keys.edition().keys == set);
    CHECK(keys.edition().number == number);
  }
}

TEST_CASE("a set that is given at the start is the first publication") {
  const PublishedKeys keys{KeySet()};
  CHECK(keys.number() == 1);
  CHECK(keys.edition().keys != nullptr);
}

TEST_CASE("a set that was read outlives its replacement") {
  PublishedKeys keys{KeySet()};
  const std::weak_ptr<const KeySet> first = keys.edition().keys;
  const auto edition = keys.edition();
  keys.publish(std::make_shared<const KeySet>());
  CHECK_FALSE(first.expired());
  CHECK(edition.keys->size() == 0);
  keys.publish(edition.keys);
  CHECK(keys.edition().keys == edition.keys);
}

TEST_CASE("a replaced set that is not in use is freed") {
  PublishedKeys keys{KeySet()};
  const std::weak_ptr<const KeySet> first = keys.edition().keys;
  keys.publish(nullptr);
  CHECK(first.expired());
  CHECK(keys.number() == 2);
}

TEST_CASE("any number of unknown keys is one note") {
  PublishedKeys keys;
  CHECK_FALSE(keys.take_unknown_key());
  for (int i = 0; i < 3; ++i)
    keys.note_unknown_key();
  CHECK(keys.take_unknown_key());
  CHECK_FALSE(keys.take_unknown_key());
  keys.note_unknown_key();
  keys.publish(std::make_shared<const KeySet>());  // does not take the note
  CHECK(keys.take_unknown_key());
}

TEST_CASE("workers read the set that belongs to its number while others are published") {
  constexpr std::size_t editions = 5'000;
  std::vector<std::shared_ptr<const KeySet>> sets{nullptr};
  for (std::size_t i = 0; i < editions; ++i)
    sets.push_back(std::make_shared<const KeySet>());
  PublishedKeys keys;
  std::jthread publisher([&] {
    for (std::size_t i = 1; i <= editions; ++i)
      keys.publish(sets[i]);
  });
  for (std::uint64_t last = 0; last < editions;) {
    const std::uint64_t at_least = keys.number();
    const auto edition = keys.edition();
    REQUIRE(edition.number >= at_least);
    REQUIRE(at_least >= last);
    REQUIRE(edition.keys == sets[edition.number]);
    last = edition.number;
  }
}

}  // namespace weir::jwt
