// Reads the keys of a limit that determine what is held for a request and what its end charges:
// `charge`, `reserve`, `cost_from` and `missing`.
#pragma once

#include <optional>

#include "config/cursor.hpp"
#include "config/table.hpp"
#include "limiter/charge.hpp"

namespace weir::config {

/// {status: [401, 403]} or {status_not: [500-599]}.
void read_charge(const Cursor& in, std::optional<limiter::Charge>& to);
/// A number, or {header: NAME, default: N} or {json: POINTER, default: N, at_most: M}.
void read_reserve(const Cursor& in, std::optional<limiter::Charge>& to);
/// A list of {header: NAME} and {json: POINTER}.
void read_cost_from(const Cursor& in, std::optional<limiter::Charge>& to);
/// `reserved` or `zero`.
void read_missing(const Cursor& in, std::optional<limiter::Charge>& to);

void list_charge(const std::string& path, KeyPaths& out);
void list_reserve(const std::string& path, KeyPaths& out);
void list_cost_from(const std::string& path, KeyPaths& out);

}  // namespace weir::config
