// SipHash-2-4, the keyed hash of everything a client chooses (Aumasson and Bernstein, "SipHash: a
// fast short-input PRF", 2012). Without the key it is infeasible to find colliding inputs, or to
// reverse a hash of a small set such as the IPv4 addresses. Pure; thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/appender.hpp"

namespace weir {

struct SipKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
  friend bool operator==(const SipKey&, const SipKey&) = default;
};

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

Hash128 siphash128(SipKey key, std::string_view data);

/// Appends 32 hexadecimal digits, the higher half first: the form of a hash in Redis keys, logs and
/// attributes.
void append_hex(Appender& out, const Hash128& hash);
void append_hex(std::string& out, const Hash128& hash);
std::string to_hex(const Hash128& hash);
/// Parses what append_hex() writes; letters of either case.
std::optional<Hash128> hash_from_hex(std::string_view digits);

/// Derives a key for siphash128 from a secret of any length (an empty one gives the built-in key).
SipKey sip_key_from_secret(std::string_view secret);

}  // namespace weir
