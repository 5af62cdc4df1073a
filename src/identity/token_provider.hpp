// One entry of `jwt_providers`: where a request carries the token, how it is verified, and the keys
// in use.
//
// Copies share the keys. Immutable once loaded, except for the keys and the notes; thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "identity/identity.hpp"
#include "jwt/provider.hpp"
#include "jwt/published_keys.hpp"

namespace weir::identity {

/// The source of the keys; one of the members is not empty.
struct KeySource {
  Secret secret;
  std::string file;
  std::string url;
  friend bool operator==(const KeySource&, const KeySource&) = default;
};

/// The state of a provider that all workers share.
struct ProviderState {
  jwt::PublishedKeys keys;
  /// Claims that were a list or an object in a valid token: bit i for claim i of the provider.
  std::atomic<std::uint64_t> unusable_claims{0};
  std::atomic<std::uint64_t> logged_claims{0};  ///< those of them that the log mentions
};

/// The largest number of `jwt_providers`; the loader refuses more.
inline constexpr std::size_t provider_limit = 16;

/// The largest number of different claims that are read from the tokens of one provider.
inline constexpr std::size_t claim_limit = 64;

struct TokenProvider {
  std::string name;
  TokenPlace place;
  jwt::Provider rules;
  std::vector<std::string> shown_claims;  ///< rules.claims as the configuration has them
  bool rejects_invalid = true;  ///< on_invalid: reject; else an invalid token counts as none
  KeySource keys_from;
  std::shared_ptr<ProviderState> state = std::make_shared<ProviderState>();

  /// True for the same settings, whatever the keys are, and the claims that identities read.
  friend bool operator==(const TokenProvider& a, const TokenProvider& b) {
    jwt::Provider rules = a.rules;
    rules.claims = b.rules.claims;
    return a.name == b.name && a.place == b.place && rules == b.rules &&
           a.rejects_invalid == b.rejects_invalid && a.keys_from == b.keys_from;
  }
};

}  // namespace weir::identity
