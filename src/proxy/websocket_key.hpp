// The proof in the opening handshake of a WebSocket over HTTP/1 that the server has read the
// request (RFC 6455 section 4). HTTP/2 has none, so a proxy makes the key and checks the answer
// (RFC 8441 section 5). Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::proxy {

/// The value of Sec-WebSocket-Key: 16 random bytes in base64.
std::string websocket_key(std::uint64_t random, std::uint64_t more);

/// True if the 101 response with these fields accepts the key.
bool accepts_key(std::span<const http::FieldView> response, std::string_view key);

}  // namespace weir::proxy
