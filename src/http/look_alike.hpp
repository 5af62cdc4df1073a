// Field names that a service may read as other names.
//
// CGI, WSGI and Rack turn "-" into "_", and PHP turns other punctuation into "_" too, so one
// variable holds "X-Api-Key", "X_Api_Key" and "X.Api.Key". A client could identify itself, or frame
// its body, a second time under a name that Weir does not read. Pure; no allocation; thread-safe.
#pragma once

#include <string_view>

namespace weir::http {

/// True if every character is a letter, a digit or "-". `name` is a token.
bool is_plain_name(std::string_view name);

/// Equality of two tokens in which case is ignored and every character that is neither a letter nor
/// a digit is the same.
bool are_one_variable(std::string_view a, std::string_view b);

/// True if are_one_variable() and the two differ in more than case.
bool is_look_alike(std::string_view name, std::string_view of);

}  // namespace weir::http
