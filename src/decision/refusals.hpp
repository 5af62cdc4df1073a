// The answers to requests that are not decided: the head is not acceptable, no route matches, or
// the limits cannot be decided. None of them reveals anything internal.
#pragma once

#include "http/refusal.hpp"

namespace weir::decision {

inline constexpr http::Refusal body_too_large{413, "the request body is too large"};
inline constexpr http::Refusal repeated_field{
    400, "a field that an identity or a route reads appears more than once"};
inline constexpr http::Refusal no_route{404, "no route matches the request"};
/// An override denies the identity.
inline constexpr http::Refusal identity_denied{403, "requests of this client are denied"};
inline constexpr http::Refusal identity_required{
    401, "the request does not carry the identity that this route requires"};
/// The readings of the path lead to more limits than can be decided together.
inline constexpr http::Refusal too_many_limits{
    400, "the path matches several routes with too many limits together; use its plain spelling"};
/// The report of another proxy names a hold that does not exist.
inline constexpr http::Refusal unknown_hold{
    404, "no such hold on this instance: it was settled, or its lease (hold_lease) has ended"};
/// The store did not decide, and a policy denies in that case.
inline constexpr http::Refusal undecided{503, "rate limit decision unavailable; try again later"};

}  // namespace weir::decision
