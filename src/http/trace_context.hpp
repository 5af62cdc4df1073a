// The trace that a request belongs to (W3C Trace Context, section 3.2). Pure; thread-safe.
#pragma once

#include <string_view>

#include "http/request_view.hpp"

namespace weir::http {

/// The trace id of a traceparent field: 32 lower-case hexadecimal digits, a view of the value;
/// empty if the value is not valid. Fields of a later version are read as far as the first version
/// defines them.
std::string_view trace_id_of(std::string_view traceparent);

/// That of a request; empty if it has no traceparent, or several.
std::string_view trace_id_of(const RequestView& request);

}  // namespace weir::http
