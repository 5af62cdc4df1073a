// The way a request has come and how much further it may go: Via and Max-Forwards (RFC 9110
// sections 7.6.3 and 7.6.2). Pure; no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// True if a hop of that name has signed Via.
bool has_passed(std::span<const FieldView> fields, std::string_view hop);

/// How many more hops may forward the request; nothing if it does not say, or is no OPTIONS: only
/// for that and TRACE has the field a meaning. Refused with 400: what is not one plain number.
Result<std::optional<std::uint64_t>, Refusal> max_forwards(const RequestView& request);

}  // namespace weir::http
