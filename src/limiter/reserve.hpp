// The key `reserve` of a limit: the units that are held for a request, a number or one that the
// request states. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/request_view.hpp"
#include "usage/number_reader.hpp"
#include "usage/usage_plan.hpp"

namespace weir::limiter {

struct Reserve {
  /// Held for a request that states no number. At least 1, so that there is a hold to settle.
  std::int64_t units = 1;
  std::string header{};                       ///< the field that states it; empty: none
  std::optional<usage::UsagePlan> in_body{};  ///< one JSON pointer into the body of the request
  std::int64_t at_most = usage::largest_count;
  friend bool operator==(const Reserve&, const Reserve&) = default;
};

/// True if the units depend on the request.
inline bool reads_request(const Reserve& reserve) {
  return !reserve.header.empty() || reserve.in_body;
}

/// The units to hold for this request, from 1 to at_most. `in_body`: what the body states. A field
/// that is repeated or is not a whole number states nothing.
std::int64_t units_of(const Reserve& reserve, const http::RequestView& request,
                      std::optional<std::int64_t> in_body);

/// Returns `JSON /max_tokens of the request, else 2000, at most 32000`.
std::string describe(const Reserve& reserve);

}  // namespace weir::limiter
