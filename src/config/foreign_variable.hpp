// Variables of other programs in a constant text: `$host` of nginx, `{http.request.host}` of Caddy,
// `%REQ(x)%` of Envoy, `%[src]` of HAProxy, `{{ .Host }}` of templates. Weir sends them as they
// are.
//
// Texts that only look alike are left alone: percent-encoding, JSON, the dollar of a nonce. Pure;
// thread-safe.
#pragma once

#include <string_view>

namespace weir::config {

/// Returns the first variable, as written; empty if there is none. `${NAME}` is a variable of the
/// environment.
std::string_view foreign_variable_in(std::string_view written);

/// Returns the field of the forwarded request that has what this variable means, such as
/// X-Forwarded-For; empty if there is none.
std::string_view forwarded_field_for(std::string_view variable);

}  // namespace weir::config
