// Comma-separated lists of field values (RFC 9110 section 5.6.1). Pure; no allocation.
#pragma once

#include <string_view>

#include "http/characters.hpp"

namespace weir::http {

/// Calls visit(element) for every element, without the white space around it; empty elements are
/// passed over (RFC 9110 section 5.6.1.2). Only for lists of tokens: quoted strings are not
/// recognised, so a comma in one separates elements.
template <class Visitor>
void for_each_element(std::string_view list, Visitor&& visit) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (const auto element = trimmed(list.substr(0, comma)); !element.empty()) visit(element);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
}

}  // namespace weir::http
