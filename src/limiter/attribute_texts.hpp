// What the entries of an attributed window carry, as text.
//
// Method, path, header and client address are told as they are; identities and query parameters,
// and fields that an identity reads, only as the keyed hash in hex, for they may be secrets. The
// views hold until clear() and as long as the request does. Allocates nothing after construction.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "identity/identity.hpp"
#include "limiter/settings.hpp"

namespace weir::limiter {

class AttributeTexts {
 public:
  explicit AttributeTexts(const Settings& config);

  void clear();
  /// The attributes of one policy, in its order; what the request does not carry is empty.
  /// Empty if services may read one of them differently. At most limits_per_route times
  /// with another result between clear()s.
  std::span<const std::string_view> of(std::size_t policy, const identity::Evidence& evidence);
  /// The first attribute of the last of() that services may read differently.
  const std::optional<identity::Ambiguity>& ambiguity() const { return ambiguity_; }

 private:
  std::string_view text_of(const Attribute& attribute, const identity::Evidence& evidence);
  std::string_view hash_of(const Attribute& attribute, const identity::Evidence& evidence);

  const Settings& config_;
  std::vector<std::string> secret_headers_;  ///< names of fields that an identity reads
  std::string made_;                         ///< texts that are no part of the request
  std::array<std::string_view, limits_per_route * attribute_limit> views_;
  std::size_t used_ = 0;
  std::optional<identity::Ambiguity> ambiguity_;
};

}  // namespace weir::limiter
