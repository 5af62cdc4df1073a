#include "routing/folded_hash.hpp"

#include <set>
#include <string>

#include "catch.hpp"

namespace weir::routing {
namespace {

TEST_CASE("letter case does not change a hash, every other character does, in any position") {
  for (std::size_t size = 1; size < 26; ++size) {
    const std::string text(size, 'q');
    const std::uint64_t hash = folded_hash(text);
    for (std::size_t at = 0; at < size; ++at) {
      CAPTURE(size, at);
      std::string changed = text;
      changed[at] = 'Q';
      CHECK(folded_hash(changed) == hash);
      changed[at] = 'r';
      CHECK(folded_hash(changed) != hash);
    }
  }
  // characters that differ from one another by the bit of the case, and are no letters
  CHECK(folded_hash("[") != folded_hash("{"));
  CHECK(folded_hash("abcdefg@") != folded_hash("abcdefg`"));
}

TEST_CASE("texts of different lengths have different hashes") {
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 40; ++size)
    seen.insert(folded_hash(std::string(size, '\0')));
  CHECK(seen.size() == 40);
}

TEST_CASE("the characters before a hashed text make no difference") {
  const std::string longer = "xxxxxxxxabcdefghijk";
  for (std::size_t size = 0; size <= 11; ++size) {
    CAPTURE(size);
    CHECK(folded_hash(std::string_view(longer).substr(8, size)) ==
          folded_hash(std::string("abcdefghijk").substr(0, size)));
  }
}

}  // namespace
}  // namespace weir::routing
