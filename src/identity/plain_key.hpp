// The keyed hash of an identity whose value an operator writes down: the same as resolve() returns
// for a request that carries it. Pure; thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "base/siphash.hpp"
#include "identity/identity.hpp"

namespace weir::identity {

/// `value`: an API key, a decoded parameter, an address or a network, a claim that is a string.
/// Empty if the value cannot occur there (not an address, credentials without a scheme), or if the
/// source combines several, whose values are not one text.
std::optional<Hash128> key_of(const Source& source, std::string_view value,
                              const ClientAddressSettings& client_settings, SipKey key);

/// True for a source that combines several.
bool is_combined(const Source& source);

/// Parses 32 hexadecimal digits, the form of a hash in logs.
std::optional<Hash128> hash_from_hex(std::string_view digits);

}  // namespace weir::identity
