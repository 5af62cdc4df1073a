// The start of a TLS connection: the number of bytes that a server needs before its first step of
// the handshake (RFC 8446 sections 4 and 5.1). Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::tls {

/// The header of a record and the largest content. Weir does not wait for a ClientHello that needs
/// more, over all of its records.
inline constexpr std::size_t most_of_hello = 5 + 16384;

/// Returns the least number of bytes that must have arrived before it is known whether the
/// ClientHello is complete; at most most_of_hello. 0: it is complete, or these bytes are not the
/// start of one, which the first step reports. A ClientHello may be split into any number of
/// records.
std::size_t needed_for_hello(std::string_view arrived);

}  // namespace weir::tls
