// JWK sets. Any text is a set or has a problem, and each problem of a key is one line. The keys
// that are used fit an algorithm and verify no signature that was not made with them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "jwt/key_set.hpp"
#include "jwt/signature.hpp"

namespace {

using namespace weir::jwt;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_line(std::string_view problem) {
  require(!problem.empty() && problem.size() < 400);
  for (const char c : problem)
    require(c >= 0x20 && c <= 0x7e);
}

void check(std::string_view text, KeyOrigin origin) {
  const auto set = read_key_set(text, origin);
  if (!set) return check_line(set.error().message);
  for (const std::string& problem : set->problems)
    check_line(problem);
  require(set->keys.size() <= most_keys);
  std::size_t candidates = 0;
  for (int i = 0; i <= static_cast<int>(JwsAlgorithm::eddsa); ++i) {
    const auto algorithm = static_cast<JwsAlgorithm>(i);
    const Candidates found = set->keys.candidates(std::nullopt, algorithm);
    require(found.known == (found.count > 0) && found.count <= most_candidates);
    candidates += found.count;
    for (std::size_t j = 0; j < found.count; ++j) {
      const Key& key = *found.keys[j];
      require(is_symmetric(algorithm) == (origin == KeyOrigin::configured));
      require(!is_signed("text", std::string(64, '\1'), key, algorithm));
      if (key.id) require(set->keys.candidates(key.id, algorithm).keys[0] == &key);
    }
  }
  // A secret without an algorithm may be too short for all of them.
  require(candidates > 0 || set->keys.size() == 0 || origin == KeyOrigin::configured);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, KeyOrigin::published);
  check(text, KeyOrigin::configured);
  return 0;
}
