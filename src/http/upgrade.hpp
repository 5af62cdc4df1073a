// Which protocols a client would like to go on in, and whether an answer took one of them (RFC 9110
// section 7.8). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::http {

/// Appends the protocols of all Upgrade lines as one list, without h2c: what would go on then are
/// requests that nobody here counts.
void append_upgrade_offer(std::string& out, std::span<const FieldView> fields);

/// The Upgrade fields of a 101 name protocols, and none that was not offered.
bool takes_offer(std::span<const FieldView> answer, std::string_view offer);

}  // namespace weir::http
