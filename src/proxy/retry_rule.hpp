// Whether a try that failed may be repeated. Pure: the session acts on the answer.
//
// A request may be sent again if it cannot have been processed, or if its method is idempotent and
// no part of an answer has been seen (RFC 9110 section 9.2.2).
#pragma once

#include <string_view>

#include "proxy/failure.hpp"

namespace weir::proxy {

/// A method whose request has the same effect when it is sent twice (RFC 9110 section 9.2.2).
bool is_idempotent(std::string_view method);

struct FailedTry {
  Failure failure = Failure::none;
  bool is_idempotent = false;     ///< the method
  bool body_is_kept = false;      ///< everything received of the body can be sent again
  bool answer_has_begun = false;  ///< a byte of the final answer was received
  bool was_idle = false;          ///< the connection had been idle: the server may have closed it
  bool has_another = false;       ///< a server that has not been tried can be chosen
  int retries_left = 0;
};

/// True if the request may be sent once more. A request that was sent goes to the same server only
/// if its connection had been idle; a server that did not accept a connection in time is not tried
/// again.
bool may_repeat(const FailedTry& failed);

}  // namespace weir::proxy
