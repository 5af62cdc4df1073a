// A hop as proxies write it: the entries of X-Forwarded-For and the node identifiers of RFC 7239
// section 6.
#pragma once

#include <optional>
#include <string_view>

#include "base/ip_address.hpp"

namespace weir::identity {

/// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80"; the port may be
/// obfuscated ("_p"). Returns nothing for "unknown", obfuscated identifiers and other text that is
/// not an address.
std::optional<IpAddress> parse_node(std::string_view text);

/// Returns the address of the `for` parameter of one element of a Forwarded field. Nothing if there
/// is none, if there are two, if the element is malformed, or if its node is not an address.
std::optional<IpAddress> forwarded_for(std::string_view element);

/// Removes the last element from a comma-separated list and returns it without white space. It
/// reads from the end, so that an unclosed quote from a client cannot hide the element that a proxy
/// appended.
std::string_view take_last_element(std::string_view& list);  ///< X-Forwarded-For: no quoting
std::string_view take_last_forwarded_element(
    std::string_view& list);  ///< Forwarded: commas in quoted strings do not count

}  // namespace weir::identity
