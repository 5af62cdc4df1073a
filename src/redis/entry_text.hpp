// The entries of an attributed window as lua/attributed_window.lua keeps them. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "rules/attributed_window.hpp"

namespace weir::redis {

/// Reads one element of the list. Empty: it is not an entry.
std::optional<rules::AttributedEntry> entry_in(std::string_view text);

/// The key of the list.
std::string entries_key(std::string_view prefix, const Hash128& identity,
                        const std::string& policy);

}  // namespace weir::redis
