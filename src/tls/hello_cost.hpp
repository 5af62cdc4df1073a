// Whether the key exchange that a ClientHello leads to may take a server much longer than usual
// (RFC 8446 section 4.2, RFC 8422 section 5.1.1). Pure.
#pragma once

#include <span>
#include <string_view>

#include "tls/parameters.hpp"

namespace weir::tls {

/// `hello`: the bytes of a connection from its first one on. `accepted`: the groups of the
/// listener, in its order.
///
/// True if the server may choose a group other than X25519 and P-256, and for all bytes that are
/// not a complete ClientHello in one record, because nothing is known about them. False if there is
/// no common group: such a handshake fails at once.
bool may_cost_much(std::string_view hello, std::span<const Group> accepted);

}  // namespace weir::tls
