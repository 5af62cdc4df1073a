#include "identity/descriptor_key.hpp"

#include <set>
#include <utility>
#include <vector>

#include "catch.hpp"

using weir::SipKey;
using weir::identity::DescriptorEntry;
using weir::identity::key_of_entries;

TEST_CASE("different entries have different keys") {
  const SipKey key{1, 2};
  const std::vector<std::vector<DescriptorEntry>> all = {
      {},
      {{"a", ""}},
      {{"", "a"}},
      {{"a", "b"}},
      {{"b", "a"}},
      {{"ab", ""}},
      {{"a", "b"}, {"c", "d"}},
      {{"c", "d"}, {"a", "b"}},
      {{"a", "bcd"}},
      {{"a", "b"}, {"", ""}},
  };
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
  for (const auto& entries : all) {
    for (const std::uint8_t kind : {std::uint8_t{0}, std::uint8_t{1}}) {
      const auto hash = key_of_entries(entries, kind, key);
      CHECK(hash == key_of_entries(entries, kind, key));
      keys.insert({hash.high, hash.low});
    }
  }
  CHECK(keys.size() == 2 * all.size());
  CHECK(key_of_entries(all[3], 0, key) != key_of_entries(all[3], 0, SipKey{1, 3}));
}
