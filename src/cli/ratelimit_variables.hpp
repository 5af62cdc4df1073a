// Environment variables of envoyproxy/ratelimit that Weir does not read, with the reasons.
// Constant.
#pragma once

#include <span>
#include <string_view>

namespace weir::cli {

struct VariableReason {
  std::string_view names;  ///< separated by spaces
  std::string_view reason;
};

/// Variables that are a warning if they are set, are not off and have not been read.
std::span<const VariableReason> ineffective_variables();
/// Flags that must not be ignored if they are true.
std::span<const VariableReason> refused_flags();
/// Texts that must not be ignored.
std::span<const VariableReason> refused_texts();

}  // namespace weir::cli
