// Functions that look at a socket without reading from it.
#pragma once

#include <cstddef>

#include "loop/io.hpp"
#include "loop/socket.hpp"

namespace weir::loop {

/// Copies the bytes that have arrived and leaves them unread. The error is would_block if nothing
/// has arrived yet, or eof.
std::size_t peek(const Socket& socket, asio::mutable_buffer to, error_code& ec);

/// The socket counts as readable when at least so many bytes have arrived, or no more can arrive.
/// 1 is the default. Without effect on unix sockets.
void wait_for_bytes(const Socket& socket, std::size_t count);

/// True if the other side has closed the connection or its sending half, even if bytes from it are
/// unread.
bool has_left(const Socket& socket);

}  // namespace weir::loop
