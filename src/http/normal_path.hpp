// The form of a path that routes are matched on, so that another spelling of a path is not another
// route.
//
// RFC 3986 section 6.2.2: percent-encoded unreserved characters are decoded, other escapes get
// upper-case digits, dot segments are resolved; and runs of slashes become one, as nginx merges
// them. What the upstream gets is the path as received. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::http {

/// True if append_normal_path would append just `path`. Cheap: the common case.
bool is_normal_path(std::string_view path);

/// Appends the normal form. It starts with "/" if `path` does; "*" stays "*".
void append_normal_path(std::string& out, std::string_view path);

}  // namespace weir::http
