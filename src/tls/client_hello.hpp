// The beginning of a TLS connection: how many bytes a server has to have before its first step of
// the handshake (RFC 8446 sections 4 and 5.1). Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::tls {

/// The header of a record and the largest content. A ClientHello that needs more, over all of its
/// records, is not waited for.
inline constexpr std::size_t most_of_hello = 5 + 16384;

/// How many bytes must have arrived, at least, before it is known whether the ClientHello is
/// complete; at most most_of_hello. 0: it is complete, or these bytes do not begin one, and the
/// first step finds out. A ClientHello may be cut into any number of records.
std::size_t needed_for_hello(std::string_view arrived);

}  // namespace weir::tls
