// The trace that a request belongs to (W3C Trace Context, section 3.2). Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/siphash.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// A valid traceparent, as views of its value.
struct TraceParent {
  std::string_view trace_id{};   ///< 32 lower-case hexadecimal digits; empty: there is none
  std::string_view parent_id{};  ///< 16
  std::uint8_t flags = 0;
};

/// The flags of version 00 (section 3.2.2.5, and the random flag of level 2). Others are not passed
/// on.
inline constexpr std::uint8_t sampled_flag = 1;
inline constexpr std::uint8_t random_flag = 2;

/// Reads a traceparent field. Fields of a later version are read as far as the first version
/// defines them.
TraceParent trace_parent_of(std::string_view traceparent);
/// That of a request; without ids if it has no traceparent, or several.
TraceParent trace_parent_of(const RequestView& request);

/// The trace id of a traceparent field: 32 lower-case hexadecimal digits, a view of the value;
/// empty if the value is not valid.
std::string_view trace_id_of(std::string_view traceparent);

/// That of a request; empty if it has no traceparent, or several.
std::string_view trace_id_of(const RequestView& request);

/// The value of a traceparent field of version 00.
using TraceparentText = std::array<char, 55>;

/// A traceparent that begins a trace. `trace` and `parent`: random bits, of which neither may be 0
/// (section 3.2.2); a 0 becomes 1.
TraceparentText new_traceparent(const Hash128& trace, std::uint64_t parent,
                                std::uint8_t flags = sampled_flag);

/// A traceparent that continues the trace of `from`, which is valid, with the sampled flag:
/// `parent` is the span here, and a 0 becomes 1.
TraceparentText continued_traceparent(const TraceParent& from, std::uint64_t parent);

}  // namespace weir::http
