// Turns the head of an HTTP/2 request into a request that can be routed and forwarded. Pure.
#pragma once

#include <optional>

#include "decision/head_checks.hpp"
#include "decision/request_rules.hpp"
#include "http/header_list.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"

namespace weir::decision {

/// Finishes the head that request.peer sent, and checks it as check_head() does. All views point
/// into `head`. `has_body`: the request does not end with its head.
///
/// Refuses with 431 a list that is too large. Refuses with 400: a method that is no token, a path
/// that is neither absolute nor "*", :authority and Host that differ, and a head without both (RFC
/// 9113 section 8.3.1). Refuses what check_head() refuses.
///
/// Host becomes the first field, with the value of :authority. `TE: trailers` is passed on. The
/// method is empty only if the head has none.
std::optional<http::Refusal> inspect_header_list(const RequestRules& rules, http::HeaderList& head,
                                                 bool has_body, http::ReceivedRequest& request);

}  // namespace weir::decision
