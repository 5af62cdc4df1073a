// The messages of Reserve and Commit of kuadrant.service.ratelimit.v1.RateLimitService
// (kuadrantrls.proto of Kuadrant's limitador, and Kuadrant's RFC 0021).
//
// Pure; thread-safe for different arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "rls/messages.hpp"

namespace weir::rls {

/// The fields of a Reserve or a Commit that a request does not have. The descriptors of the request
/// have the amount as their hits.
struct Reservation {
  std::uint64_t amount = 0;  ///< to hold, or to charge
  Duration ttl{0};           ///< of a Reserve: until the units are released; 0: not stated
  std::string_view id{};     ///< of a Commit
};

/// Read a ReserveRequest and a CommitRequest. Return why it is not valid; empty if it is. Both
/// views are of `message`.
std::string_view read_reserve(std::string_view message, Request& to, Reservation& reservation);
std::string_view read_commit(std::string_view message, Request& to, Reservation& reservation);

/// Appends a ReserveResponse; `id`: empty unless the code is OK.
void append_reserve_response(std::string& out, Code code, std::string_view id);
/// Appends a CommitResponse. `is_released`: the reservation was found, and its units are settled.
void append_commit_response(std::string& out, bool is_released);

}  // namespace weir::rls
