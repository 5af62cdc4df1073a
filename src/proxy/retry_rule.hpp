// The consequences of a failed try: whether it is repeated, and whether it counts against the
// server. Pure; the forward phase acts on the results.
//
// A request may be sent again if it cannot have been processed, or if its method is idempotent and
// no part of a response has been received (RFC 9110 section 9.2.2).
#pragma once

#include <cstddef>
#include <string_view>

#include "http/received_request.hpp"
#include "options/upstream.hpp"
#include "proxy/failure.hpp"

namespace weir::proxy {

/// True for a method whose request has the same effect when it is sent twice (RFC 9110 section
/// 9.2.2).
bool is_idempotent(std::string_view method);

struct FailedTry {
  Failure failure = Failure::none;
  bool is_idempotent = false;  ///< the method
  bool body_is_kept = false;   ///< all received bytes of the body can be sent again
  bool was_answered = false;   ///< at least one byte was received, possibly of an interim response
  bool answer_has_begun = false;    ///< a byte of the final response was received
  bool client_was_awaited = false;  ///< the server waited for a body that the client held back
  bool was_idle = false;            ///< the connection had been idle: the server may have closed it
  bool was_refused = false;         ///< the server has reported that it did not process the request
  bool client_is_gone = false;      ///< it has left, or the worker ends its connection
  bool response_has_begun = false;  ///< towards the client
  bool has_another = false;         ///< a server that has not been tried can be chosen
  int retries_left = 0;
};

/// True if the request may be sent once more. A request that was sent goes to the same server only
/// if its connection had been idle; a server that did not accept a connection in time is not tried
/// again. A request that the server refused to process is sent again, also to the same server (RFC
/// 9113 section 8.7).
bool may_repeat(const FailedTry& failed);

/// True if the failure counts towards ejecting the server. An invalid response does not count: the
/// server is reachable and serves others. The end of a connection that had been idle does not
/// count, because a server may close it at any time. The end of a connection on which the server
/// waited for the client does not count. A request that the server refused does not count either.
bool is_servers_fault(const FailedTry& failed);

/// Returns how many bytes of a request body to keep for another try; 0: there will be none.
std::size_t kept_body_limit(const options::Upstream& settings,
                            const http::ReceivedRequest& request);

}  // namespace weir::proxy
