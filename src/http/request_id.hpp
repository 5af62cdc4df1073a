// The id of a request, in X-Request-Id, the access log and traces. Pure; thread-safe.
//
// A trusted peer gives the id; otherwise it is made: a UUID of version 7 (RFC 9562 section 5.7), so
// that ids sort by time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"

namespace weir::http {

/// The text of a UUID.
using UuidText = std::array<char, 36>;

/// A UUID of version 7 with the milliseconds of `now`. `high` and `low`: random bits, of which 12
/// and 62 are used. The id is no secret.
UuidText uuid_v7(Instant now, std::uint64_t high, std::uint64_t low);

/// Whether an id of a trusted peer is used as it is: 1 to 128 letters, digits and "-_.:/+=@", which
/// no log or header has to escape.
bool is_request_id(std::string_view value);

}  // namespace weir::http
