// A report as HTML tables, for browsers without JavaScript. Every text is escaped. Pure.
#pragma once

#include <string>
#include <string_view>

#include "status/report.hpp"

namespace weir::status {

/// The tables of a report, the denials first; the content of an HTML element.
std::string tables_of(const Report& report);

/// Escapes a text for the content of an element and for a quoted attribute (HTML standard, section
/// 13.3).
std::string escaped(std::string_view text);

}  // namespace weir::status
