// The key that an override belongs to: the value or the hash of an identity. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/siphash.hpp"
#include "config/config.hpp"

namespace weir::app {

/// An identity and a key, as written. Empty: it is left out.
struct OverrideOwner {
  std::string_view identity;
  std::string_view key;  ///< its value, or hash:HEX
};

struct OverrideKey {
  std::string identity;  ///< its name; empty if the key is a hash and no identity is named
  Hash128 hash;
};

/// Finds the only key that requests with this value have. A problem states which member is wrong,
/// and what to write; it does not contain the value.
Result<OverrideKey> find_override_key(const OverrideOwner& written, const config::Config& config);

}  // namespace weir::app
