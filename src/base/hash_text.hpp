// Hashes as text: 32 hexadecimal digits, the form of a client's hash in logs and in Redis. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/siphash.hpp"

namespace weir {

/// Parses what append_hex() writes; letters of either case.
std::optional<Hash128> hash_from_hex(std::string_view digits);

}  // namespace weir
