// The fields of an attributed window's entries, as text.
//
// Method, path, header and client address are written as they are. Identities, query parameters and
// fields that an identity reads may be secrets: only their keyed hash is written, in hex.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "identity/identity.hpp"
#include "limiter/settings.hpp"

namespace weir::limiter {

/// The texts of one request's claims. The views hold until clear(), and as long as the request
/// does. Allocates when it is used for the first time, then no more.
class AttributeTexts {
 public:
  void clear() {
    made_.clear();
    views_.clear();
  }

 private:
  friend class AttributeReader;
  std::string made_;                     ///< texts that are no part of the request
  std::vector<std::string_view> views_;  ///< claim by claim
};

/// Reads attributes from requests. Belongs to one worker.
class AttributeReader {
 public:
  explicit AttributeReader(const Settings& config);

  struct Attributes {
    std::span<const std::string_view> texts;       ///< in the policy's order; absent: empty
    std::optional<identity::Ambiguity> ambiguity;  ///< then there are no texts
  };
  /// The attributes of one policy, kept in `texts`. Ambiguous if services may read one of them
  /// differently: the first such is returned. At most limits_per_route times without
  /// ambiguity between clear()s.
  Attributes read(const Policy& policy, const identity::Evidence& evidence,
                  AttributeTexts& texts) const;

 private:
  class Reading;

  const Settings& config_;
  std::vector<std::string> secret_headers_;  ///< names of fields that an identity reads
};

}  // namespace weir::limiter
