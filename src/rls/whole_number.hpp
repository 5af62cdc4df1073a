// Whole numbers of proto3 JSON: any JSON number whose value is whole, such as `15`, `1.50e1` or
// `-0`. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::rls {

struct WholeNumber {
  bool is_negative = false;  ///< never of 0
  std::uint64_t magnitude = 0;
  friend bool operator==(const WholeNumber&, const WholeNumber&) = default;
};

/// Reads text that is one number of JSON (RFC 8259 section 6). Returns nothing for other text, for
/// a number that is not whole, and for one whose magnitude does not fit 64 bits.
std::optional<WholeNumber> read_whole_number(std::string_view text);

}  // namespace weir::rls
