// One downstream connection as used by the reader of its requests and the writer of its responses.
#pragma once

#include <cstddef>
#include <utility>

#include "loop/input_buffer.hpp"
#include "loop/stream.hpp"
#include "proxy/context.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

/// The connections that one listener of a worker has accepted.
struct ListenerConnections {
  std::size_t count = 0;
  bool draining = false;  ///< the listener was removed: finish what is in flight, then close
};

struct ClientConnection {
  ClientConnection(Context& its_context, ListenerConnections& its_listener, loop::Descriptor socket)
      : context(its_context), listener(its_listener), stream(its_context.io, std::move(socket)) {}

  /// True if the connection ends after the request in progress.
  bool is_draining() const { return context.draining || listener.draining; }

  Context& context;
  ListenerConnections& listener;
  loop::Stream stream;
  Watchdog watchdog{context.wheel, stream};
  /// Holds heads, and what arrives with them; has no memory while a plain connection is idle.
  loop::InputBuffer input = loop::InputBuffer::without_memory(first_head_buffer);
};

}  // namespace weir::proxy
