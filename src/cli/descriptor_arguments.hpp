// A call of the rate limit service as arguments of a command: a domain, and descriptors of entries
// KEY=VALUE. Problems never have a value, which may be a secret. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "identity/descriptor_key.hpp"

namespace weir::cli {

/// Returns the entries as views of `texts`.
Result<std::vector<identity::DescriptorEntry>> read_entries_of(std::span<const std::string> texts);

}  // namespace weir::cli
