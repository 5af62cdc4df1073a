// The keys of a provider: a JWK set (RFC 7517 section 5), or a configured secret.
//
// A set is immutable. Several threads may use it at the same time, and a new set replaces it as a
// whole, so that a key that the issuer removed stops working. Reading a set of 1,000 keys takes
// tens of milliseconds.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "jwt/key.hpp"

namespace weir::jwt {

inline constexpr std::size_t largest_key_set = 4 * 1024 * 1024;  ///< bytes of text
inline constexpr std::size_t most_keys = 1'024;                  ///< of a set; others are not read
inline constexpr std::size_t most_candidates = 4;  ///< keys that are tried without a key ID

/// The keys that may have signed a token. The pointers are valid as long as the set.
struct Candidates {
  std::array<const Key*, most_candidates> keys{};
  std::size_t count = 0;
  /// False: the set has no such key, and a newer one may have it. True with no candidate: the key
  /// is for another algorithm.
  bool known = false;
};

class KeySet {
 public:
  /// A set without keys: what a provider has before the first one is read.
  KeySet() = default;
  /// `keys`: with different key IDs.
  explicit KeySet(std::vector<Key> keys);
  /// The secret verifies tokens with any key ID, because it has none itself.
  static Result<KeySet> of_secret(const Secret& secret);

  /// With a key ID, the key that has it. Without one, the first keys that fit the algorithm.
  Candidates candidates(const std::optional<std::string>& id, JwsAlgorithm algorithm) const;
  std::size_t size() const { return keys_.size(); }
  /// A set with one more key, which has another ID.
  KeySet with(Key key) const;

 private:
  std::vector<Key> keys_;  ///< by ID, those without one first
  bool accepts_any_id_ = false;
};

/// A set, and what is wrong with its keys: lines for the log. They contain the position and the ID
/// of a key, if that is printable, and nothing else of it.
struct ReadKeySet {
  KeySet keys;
  std::vector<std::string> problems;
};

/// Reads the text of a JWK set. Keys that cannot be used are skipped and reported. Fails if the
/// text is not a JWK set. Takes memory in proportion to the number of keys.
Result<ReadKeySet> read_key_set(std::string_view text, KeyOrigin origin);

}  // namespace weir::jwt
