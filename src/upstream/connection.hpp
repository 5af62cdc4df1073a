// A connection to a server of an upstream.
#pragma once

#include <cstdint>
#include <vector>

#include "http/request_view.hpp"
#include "loop/descriptor_budget.hpp"
#include "loop/input_buffer.hpp"
#include "loop/stream.hpp"
#include "upstream/addresses.hpp"

namespace weir::upstream {

class PooledServer;

/// Belongs to its holder and is closed when dropped. Not thread-safe.
struct Connection {
  /// Responses are relayed before new requests are read.
  Connection(asio::io_context& io, PooledServer& to) : server(to), stream(io) {
    stream.socket().set_priority(loop::Priority::high);
  }

  PooledServer& server;
  loop::DescriptorBudget::Share descriptor;  ///< from connect() on, until the stream is closed
  loop::Stream stream;
  Addresses::Endpoint endpoint;
  loop::InputBuffer input{16 * 1024};
  std::vector<http::FieldView> fields;  ///< of the response being read; views into input
  bool reusable = false;  ///< its response is delimited and the upstream keeps the connection
  bool reused = false;    ///< was idle before, so the upstream may have closed it meanwhile
  bool is_check = false;  ///< its descriptor is reserved
  std::uint64_t idle_since = 0;  ///< tick
};

}  // namespace weir::upstream
