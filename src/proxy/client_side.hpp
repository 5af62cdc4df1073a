// The client of an exchange, whatever its protocol.
#pragma once

#include <cstdint>

#include "proxy/request_body.hpp"
#include "proxy/responder.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

struct ClientSide {
  Watchdog* watchdog = nullptr;
  RequestBody* body = nullptr;
  Responder* responder = nullptr;
  std::uint64_t number = 0;  ///< of the client connection, unique in the worker
};

}  // namespace weir::proxy
