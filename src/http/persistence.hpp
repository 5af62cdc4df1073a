// Whether an HTTP/1 connection is kept after a response (RFC 9112 section 9.3). Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/framing.hpp"
#include "http/received_request.hpp"

namespace weir::http {

struct Persistence {
  bool client_wants = false;         ///< according to its version and its Connection field
  bool draining = false;             ///< the worker or the listener stops
  bool request_will_be_read = true;  ///< to the end of its body, where the next one begins
};
bool is_persistent(const Persistence& persistence);

/// True if only the end of the connection ends the response for an HTTP/1.0 client.
bool ends_with_connection(std::uint8_t version_minor, Framing::Kind response_body);

/// True if the unread body is small enough to be read and dropped after a response, and is already
/// on its way: a client that waits for 100 does not send it.
bool is_worth_reading(const ReceivedRequest& request, std::size_t max_drain);

}  // namespace weir::http
