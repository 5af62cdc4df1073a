// Reads `charge` of a limit: {status: [401, 403]} or {status_not: [500-599]}.
#pragma once

#include <optional>

#include "config/cursor.hpp"
#include "config/table.hpp"
#include "limiter/charge.hpp"

namespace weir::config {

void read_charge(const Cursor& in, std::optional<limiter::ChargeByStatus>& to);
void list_charge(const std::string& path, KeyPaths& out);

}  // namespace weir::config
