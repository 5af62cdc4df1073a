// Field names that a server behind us may take for others.
//
// CGI, WSGI and their like make one variable of "X-Api-Key" and "X_Api_Key", so a client could say
// who it is, or where its body ends, a second time under a name that was looked at by nobody.
// Pure; no allocation.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

/// What begins the names of fields in which a proxy says where a request comes from, or which one
/// it asks about.
inline constexpr std::array<std::string_view, 2> origin_prefixes{"x-forwarded-", "x-original-"};

/// ASCII case-insensitive equality in which '_' and '-' are the same.
bool are_one_variable(std::string_view a, std::string_view b);

/// True for a name that is one variable with a field that delimits the body, with one that says
/// where the request comes from (X-Forwarded-*, X-Real-IP, X-Original-*), or with one of `guarded`,
/// and is not spelt as that field is.
bool is_look_alike(std::string_view name, std::span<const std::string> guarded);

}  // namespace weir::http
