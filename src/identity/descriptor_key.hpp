// The keyed hash of the entries of a descriptor of Envoy's rate limit service. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/siphash.hpp"

namespace weir::identity {

/// An entry of a descriptor. Its value may be empty.
struct DescriptorEntry {
  std::string_view key;
  std::string_view value;
  friend bool operator==(const DescriptorEntry&, const DescriptorEntry&) = default;
};

/// Returns the key of these entries, in this order. No two lists of entries, or of different kinds,
/// have the same input, and none that of another identity. `kind`: distinguishes counts of the same
/// entries.
Hash128 key_of_entries(std::span<const DescriptorEntry> entries, std::uint8_t kind, SipKey key);

}  // namespace weir::identity
