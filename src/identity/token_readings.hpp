// The tokens of one request, each verified at most once, and the results of earlier verifications.
//
// Belongs to one worker and one configuration. Time is an argument, and nothing is fetched: with
// keys that have not been read yet a token is unverifiable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/long_hash.hpp"
#include "base/time.hpp"
#include "base/traffic_counters.hpp"
#include "http/request_view.hpp"
#include "identity/identity.hpp"
#include "identity/token_provider.hpp"
#include "jwt/published_keys.hpp"
#include "jwt/verification_cache.hpp"

namespace weir::identity {

/// The result of reading the token of one provider. A token of another issuer counts as absent if
/// it is valid for another provider that reads the same place.
struct TokenReading {
  enum class State : std::uint8_t {
    absent,        ///< the request has none, or an invalid one that counts as none
    valid,         ///< verified now
    invalid,       ///< rejected: the request is answered 401
    unverifiable,  ///< no keys have been read yet: the request is answered 503
    ambiguous,     ///< services may read another token
  };
  State state = State::absent;
  jwt::Rejection rejection{};            ///< invalid
  Ambiguity::Kind ambiguity{};           ///< ambiguous
  std::span<const jwt::Claim> claims{};  ///< valid: in the order of the provider's claims
  /// Valid: the keys of identities that are one of these claims; nothing for an unusable claim.
  std::span<const std::optional<Hash128>> keys{};
};

class TokenReadings {
 public:
  using Counters = std::vector<std::shared_ptr<TokenCounters>>;

  /// `providers` outlive this. `identity_key`: as for resolve(). `counters`: one for each provider;
  /// empty: they are made here.
  TokenReadings(std::span<const TokenProvider> providers, SipKey identity_key,
                Counters counters = {});

  /// Begins the next request, at this instant of the clock of this process.
  void begin(Instant now) {
    known_ = own_known_ = 0;
    now_ = now;
  }
  /// The wall clock less the clock of this process. Tokens have dates of the wall clock, which may
  /// be set while the process runs.
  void set_wall_clock_offset(Duration offset) { offset_ = offset; }

  /// Reads the token of a provider at most once in a request; the claims stay in their place until
  /// the next one begins.
  const TokenReading& of(std::size_t provider, const http::RequestView& request);

 private:
  /// The result for a valid token.
  struct Valid {
    jwt::Verified verified;
    std::vector<std::optional<Hash128>> keys;  ///< of its claims
    const jwt::ValidUntil& valid_until() const { return verified.valid_until; }
  };
  struct Known {
    std::shared_ptr<const jwt::KeySet> keys;  ///< nullptr: none has been published
    std::uint64_t edition = 0;
    jwt::VerificationCache<Valid> cache;
    std::shared_ptr<TokenCounters> counters;
    bool shares_place = false;  ///< with another provider
    TokenReading own;           ///< as if there were no other provider
    TokenReading reading;
  };
  TokenReading read(std::size_t provider, const http::RequestView& request);
  const TokenReading& own(std::size_t provider, const http::RequestView& request);
  TokenReading read_own(std::size_t provider, const http::RequestView& request);
  TokenReading of_other_issuer(std::size_t provider, const http::RequestView& request);
  struct NewToken {  // without a remembered result
    std::string_view text;
    Hash128 hash;
    Instant now;
  };
  TokenReading verify(const TokenProvider& provider, Known& known, const NewToken& token);
  static TokenReading accept(const TokenProvider& provider, const Valid& valid);

  std::span<const TokenProvider> providers_;
  SipKey identity_key_;
  LongHash hash_;
  std::vector<Known> known_providers_;
  // A bit for each provider whose reading, or own reading, is known.
  std::uint32_t known_ = 0;
  std::uint32_t own_known_ = 0;
  Instant now_{};
  Duration offset_{0};
};

}  // namespace weir::identity
