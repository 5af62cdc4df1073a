// What follows from a try that failed: whether it is repeated, and whether it counts against the
// server. Pure; the forward phase acts on the answers.
//
// A request may be sent again if it cannot have been processed, or if its method is idempotent and
// no part of a response has been seen (RFC 9110 section 9.2.2).
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/failure.hpp"
#include "proxy/received_request.hpp"
#include "upstream/upstream.hpp"

namespace weir::proxy {

/// A method whose request has the same effect when it is sent twice (RFC 9110 section 9.2.2).
bool is_idempotent(std::string_view method);

struct FailedTry {
  Failure failure = Failure::none;
  bool is_idempotent = false;       ///< the method
  bool body_is_kept = false;        ///< everything received of the body can be sent again
  bool was_answered = false;        ///< a byte was received, of an interim response at least
  bool answer_has_begun = false;    ///< a byte of the final response was received
  bool client_was_awaited = false;  ///< the server waited for what the client held back
  bool was_idle = false;            ///< the connection had been idle: the server may have closed it
  bool has_another = false;         ///< a server that has not been tried can be chosen
  int retries_left = 0;
};

/// True if the request may be sent once more. A request that was sent goes to the same server only
/// if its connection had been idle; a server that did not accept a connection in time is not tried
/// again.
bool may_repeat(const FailedTry& failed);

/// True if the failure counts towards ejecting the server. An invalid response does not: the server
/// is reachable and serves others. Neither does the end of a connection that had been idle, which a
/// server may close at any time, nor of one on which it waited for the client.
bool is_servers_fault(const FailedTry& failed);

/// The bytes of a request body that are worth keeping for another try; 0: there will be none.
std::size_t kept_body_limit(const upstream::Upstream& settings, const ReceivedRequest& request);

}  // namespace weir::proxy
