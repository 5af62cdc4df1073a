// The response to a denial: the keys status, content_type, body and headers, of a policy or of the
// section `denied`, which has the defaults of all policies.
#pragma once

#include "config/cursor.hpp"
#include "limiter/policy.hpp"

namespace weir::config {

void read_denial_status(const Cursor& in, DenialSettings& to);
void read_denial_content_type(const Cursor& in, DenialSettings& to);
/// Reads a text, or a map of media types to texts.
void read_denial_body(const Cursor& in, DenialSettings& to);
void read_denial_headers(const Cursor& in, DenialSettings& to);
/// Reports a content_type without a body that it describes. `in` is the map with the keys.
void check_denial(const Cursor& in, DenialSettings& settings);

/// Warns of a body, of a denial or a fixed answer, that is written as the name of a file.
void warn_of_body_file(const Cursor& in);

/// Returns the settings in force: a policy's own body replaces that of `defaults`, and its fields
/// replace those of the same name.
limiter::Denial compile_denial(const DenialSettings& own, const DenialSettings& defaults);

}  // namespace weir::config
