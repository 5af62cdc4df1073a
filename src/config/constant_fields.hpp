// Header fields with constant values: `headers` of a denial or of a fixed answer.
//
// Fields that frame a message or that Weir computes are refused. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/cursor.hpp"

namespace weir::config {

/// Returns why a field of this name cannot be written in a message, with the fix; empty if it can.
using FieldRefusal = std::string_view (*)(std::string_view name);

/// For a field that belongs to one connection or frames a body.
std::string_view refusal_of_framing_field(std::string_view name);
/// For a field of an answer that Weir generates.
std::string_view refusal_of_answer_field(std::string_view name);
/// For a field of a denial.
std::string_view refusal_of_denial_field(std::string_view name);

/// Appends the fields of a map of names to values; names are unique except for letter case.
void read_constant_fields(const Cursor& in, FieldRefusal refusal, ConstantFields& to);

/// Returns the field lines, each ended by CRLF.
std::string field_lines(const ConstantFields& fields);

/// Reads the name of a field in lower case, as keys and messages have it. `expected` is the problem
/// with any other text.
std::optional<std::string> read_field_name(const Cursor& in, std::string_view expected);

/// Reads the value of Content-Type.
void read_media_type(const Cursor& in, std::string& to);

}  // namespace weir::config
