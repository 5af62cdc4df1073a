// The attributes of an attributed window's entries, as text.
//
// Method, path, header and client address are stored as they are. Identities, query parameters and
// fields that an identity reads may be secrets: only their keyed hash is stored, in hex.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/options.hpp"

namespace weir::limiter {

/// The texts of one request's claims. The views are valid until clear(), and as long as the request
/// is. Allocates only on first use.
class AttributeTexts {
 public:
  void clear() {
    made_.clear();
    views_.clear();
  }

 private:
  friend class AttributeReader;
  std::string made_;                     ///< texts that are not part of the request
  std::vector<std::string_view> views_;  ///< claim by claim
};

/// Reads attributes from requests. Belongs to one worker.
class AttributeReader {
 public:
  explicit AttributeReader(const Options& options);

  struct Attributes {
    std::span<const std::string_view> texts;          ///< in the policy's order; absent: empty
    std::optional<identity::Ambiguity> ambiguity;     ///< then there are no texts
    std::optional<identity::TokenFault> token_fault;  ///< likewise
  };
  /// Reads the attributes of one policy and keeps them in `texts`. Returns the first ambiguity if
  /// services may read one of them differently, and the first token that is invalid. At most
  /// limits_per_route calls that return texts between two clear()s.
  Attributes read(const Policy& policy, const identity::Evidence& evidence,
                  identity::TokenReadings& tokens, AttributeTexts& texts) const;

 private:
  class Reading;

  const Options& options_;
  std::vector<std::string> secret_headers_;  ///< names of fields that an identity reads
};

}  // namespace weir::limiter
