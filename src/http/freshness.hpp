// How long an answer may be kept before it is requested again (RFC 9111 section 4.2). Pure; no
// allocation.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "http/request_view.hpp"

namespace weir::http {

/// Returns `max-age` of Cache-Control less the age that a cache has added (Age), not below 0;
/// nothing without a valid `max-age`. If it appears more than once, the smallest counts. A number
/// that is too large counts as 2^31 (RFC 9111 section 1.2.2).
std::optional<std::chrono::seconds> fresh_for(std::span<const FieldView> fields);

}  // namespace weir::http
