// Remedies for the errors that Redis returns, for operators. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "options/redis.hpp"
#include "store/error.hpp"

namespace weir::redis {

/// A clause for the log. Empty for errors that Redis did not return, such as a timeout. `reply`:
/// the text of the error reply, or why a reply could not be parsed or used. `topology`: the
/// configured one.
std::string_view remedy(store::Error error, std::string_view reply,
                        options::RedisTopology topology);

/// A clause for a connection that Redis refuses: `error` is the step and the reply, such as
/// `AUTH: WRONGPASS invalid password`.
std::string_view refusal_remedy(std::string_view error);

/// How a handshake ended although the server had accepted the connection.
enum class HandshakeEnd : std::uint8_t { closed, silent };

/// A clause for such a handshake. `is_secure`: Weir starts TLS.
std::string_view handshake_remedy(HandshakeEnd end, bool is_secure);

/// A clause for a connection that could not be made. `why`: the error of the system, in words.
/// Empty if the error has none.
std::string_view connect_remedy(std::string_view why);

/// A clause for an error reply to CLUSTER SLOTS. Empty if the error has none.
std::string_view slots_remedy(std::string_view reply);

}  // namespace weir::redis
