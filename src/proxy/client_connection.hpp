// One downstream connection as used by the reader of its requests and the writer of its responses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ip_address.hpp"
#include "http/received_request.hpp"
#include "loop/input_buffer.hpp"
#include "loop/stream.hpp"
#include "proxy/context.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

/// The connections that one listener of a worker has accepted.
struct ListenerConnections {
  std::size_t count = 0;
  bool draining = false;  ///< the listener was removed: finish what is in flight, then close
  options::Serves serves = options::Serves::proxy;
};

/// Counts a new connection of `peer` in `slot`. Returns false if it is beyond a bound of
/// downstream.per_address: then it is to be reset. The refusal has been counted and logged. Trusted
/// proxies have no bound, because their clients share the address.
bool admit_from(Context& context, const IpAddress& peer, AddressConnections::Slot& slot);

struct ClientConnection {
  ClientConnection(Context& its_context, ListenerConnections& its_listener, loop::Descriptor socket,
                   const IpAddress& its_peer)
      : context(its_context),
        listener(its_listener),
        stream(its_context.io, std::move(socket)),
        peer(its_peer),
        number(its_context.connection_count++),
        opened_at(its_context.wheel.now()) {}

  /// True if the connection ends after the request in progress.
  bool is_draining() const { return context.draining || listener.draining || has_aged; }
  /// True if the connection is older than downstream.max_age, plus a part of a tenth of it that
  /// spreads the ends of connections that were opened at the same time.
  bool is_beyond_max_age() const;
  /// Sets the peer of a request, and whether it is a trusted proxy in the running configuration. It
  /// is the client until the head has been inspected.
  void set_peer(http::ReceivedRequest& request);

  Context& context;
  ListenerConnections& listener;
  loop::Stream stream;
  Watchdog watchdog{context.wheel, stream};
  /// Holds heads, and what arrives with them; has no memory while a plain connection is idle.
  loop::InputBuffer input = loop::InputBuffer::without_memory(first_head_buffer);
  IpAddress peer;                           ///< or the source address in a PROXY header
  AddressConnections::Slot address_slot{};  ///< none: it does not count for its address
  const std::uint64_t number;               ///< unique in the worker
  const std::uint64_t opened_at;            ///< in ticks of the wheel
  bool has_aged = false;  ///< beyond downstream.max_age: finish what is in flight, then close

 private:
  std::uint64_t trusted_by_ = 0;  ///< the generation that is_trusted_ comes from; 0: none
  bool is_trusted_ = false;
};

/// The bytes that a client may still send on a connection that ends.
enum class Rest : std::uint8_t {
  none,     ///< all has been read
  usual,    ///< up to what its windows allow
  of_fault  ///< few: the connection ends because of a fault, and is not to cost more
};

/// Lets the client read the response before the connection ends. A close with unread bytes resets
/// the connection, and the reset may overtake the response (RFC 9112 section 9.6). So the client's
/// remaining bytes are read and dropped for a short time, in small steps.
loop::Task<> drop_rest(ClientConnection& client, Rest rest);

}  // namespace weir::proxy
