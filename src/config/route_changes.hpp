// The changes that a route makes to a request and its response: the keys request_headers,
// response_headers, strip_prefix and path.
//
// Pure; thread-safe.
#pragma once

#include "config/cursor.hpp"
#include "config/table.hpp"
#include "proxy/settings.hpp"

namespace weir::config {

/// Read maps with the keys set, add and remove.
void read_request_edits(const Cursor& in, proxy::Route& to);
void read_response_edits(const Cursor& in, proxy::Route& to);
void list_field_edits(const std::string& path, KeyPaths& out);

/// Read the path for the upstream. The match of the route must have been read.
void read_strip_prefix(const Cursor& in, proxy::Route& to);
void read_new_path(const Cursor& in, proxy::Route& to);

/// Reports changes that have no effect, because the route forwards nothing or has two for the path.
/// `in` is the map of the route.
void check_changes(const Cursor& in, const proxy::Route& route);

}  // namespace weir::config
