// The trace that a request belongs to (W3C Trace Context, section 3.2). Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/siphash.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// The trace id of a traceparent field: 32 lower-case hexadecimal digits, a view of the value;
/// empty if the value is not valid. Fields of a later version are read as far as the first version
/// defines them.
std::string_view trace_id_of(std::string_view traceparent);

/// That of a request; empty if it has no traceparent, or several.
std::string_view trace_id_of(const RequestView& request);

/// The value of a traceparent field of version 00.
using TraceparentText = std::array<char, 55>;

/// A traceparent that begins a trace, with the sampled flag. `trace` and `parent`: random bits, of
/// which neither may be 0 (section 3.2.2); a 0 becomes 1.
TraceparentText new_traceparent(const Hash128& trace, std::uint64_t parent);

}  // namespace weir::http
