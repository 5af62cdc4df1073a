// Upgrades (RFC 9110 section 7.8): the protocols that a client offers, and whether a 101 chooses
// one of them. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::http {

/// Appends the protocols of all Upgrade lines as one list, without h2c: the requests in such a
/// tunnel would not be limited.
void append_upgrade_offer(std::string& out, std::span<const FieldView> fields);

/// True if the Upgrade fields of a 101 name at least one protocol, and only protocols that were
/// offered.
bool takes_offer(std::span<const FieldView> answer, std::string_view offer);

}  // namespace weir::http
