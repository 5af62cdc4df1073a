// The report as one HTML page: charts as inline SVG, with their numbers in tables beside them. The
// page needs no script and loads nothing; its policy forbids both. Texts of the log are escaped.
// Pure.
#pragma once

#include <string>

#include "replay/report.hpp"

namespace weir::replay {

std::string to_page(const Report& report);

}  // namespace weir::replay
