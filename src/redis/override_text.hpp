// Overrides as Redis keeps them, for lua/overrides.lua and lua/change_override.lua.
//
// The key of an identity's overrides (append_overrides_key) holds a text: the line `1`, the version
// of this format, and one line for each override, of parts separated by tabs:
//
//   NAME       of the policy, or * for all
//   SUM        the first 8 hexadecimal digits of the SHA-1 of NAME, a tab and all that follows SUM
//   KIND UNTIL NUMBERS
//              n (numbers), u (unlimited), d (denied) or p (a plan); microseconds since the epoch,
//              0: without end; of n: the policy's form, its refill and the numbers that a claim
//              would pass; of p, for each policy: US, its name, US, and `u` or `n NUMBERS`, where
//              US is the unit separator of ASCII
//   DETAILS    for lists
//
// A line whose SUM differs is malformed: the numbers of the policy are in force. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "store/override.hpp"

namespace weir::redis {

/// NAME of an override of this policy; empty: all policies.
std::string_view override_name(std::string_view policy);

/// The line of an override, without its end.
std::string override_line(const store::Override& entry);

/// The overrides in the text of an identity that have not ended, and malformed ones.
std::vector<store::ListedOverride> overrides_in(std::string_view text, const Hash128& identity,
                                                Instant now);

/// append_overrides_key() as a text.
std::string overrides_key(std::string_view prefix, const Hash128& identity);

/// The identity that the key of overrides belongs to; empty if it is another key.
std::optional<Hash128> identity_of_overrides_key(std::string_view key, std::string_view prefix);

/// The pattern for SCAN that finds these keys and perhaps others.
std::string overrides_pattern(std::string_view prefix);

/// The key whose value changes with every change of overrides: PREFIX!generation.
std::string generation_key(std::string_view prefix);

}  // namespace weir::redis
