#include "loop/socket_probe.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace weir::loop {

std::size_t peek(const Socket& socket, asio::mutable_buffer to, error_code& ec) {
  const ssize_t got = ::recv(socket.native(), to.data(), to.size(), MSG_PEEK | MSG_DONTWAIT);
  ec = {};
  if (got == 0) ec = asio::error::eof;
  if (got < 0) ec = error_code(errno, boost::system::system_category());
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

void wait_for_bytes(const Socket& socket, std::size_t count) {
  const int bytes = static_cast<int>(count);
  ::setsockopt(socket.native(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

bool has_left(const Socket& socket) {
  pollfd look{socket.native(), POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace weir::loop
