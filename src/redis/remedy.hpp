// Remedies for the errors that Redis returns, for operators. Pure.
#pragma once

#include <string_view>

#include "store/error.hpp"

namespace weir::redis {

/// A clause for the log. Empty for errors that Redis did not return, such as a timeout. `reply`:
/// the text of the error reply, or why a reply could not be parsed or used.
std::string_view remedy(store::Error error, std::string_view reply);

/// A clause for a connection that Redis refuses: `error` is the step and the reply, such as
/// `AUTH: WRONGPASS invalid password`.
std::string_view refusal_remedy(std::string_view error);

/// A clause for a server that accepts connections, and then closes them or does not answer.
/// `is_secure`: Weir starts TLS.
std::string_view handshake_remedy(bool is_secure);

}  // namespace weir::redis
