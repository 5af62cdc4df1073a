// The hops that a request has passed, and those that it may still pass: Via and Max-Forwards (RFC
// 9110 sections 7.6.3 and 7.6.2). Pure; no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// True if Via has an entry with that name.
bool has_passed(std::span<const FieldView> fields, std::string_view hop);

/// Returns how many more hops may forward the request; nothing without the field, or if the method
/// is not OPTIONS (the field has a meaning for OPTIONS and TRACE only). Refuses a value that is not
/// one plain number with 400.
Result<std::optional<std::uint64_t>, Refusal> max_forwards(const RequestView& request);

}  // namespace weir::http
