// Turns the bytes of a request head of HTTP/1 into a request that can be routed and forwarded.
// Pure.
#pragma once

#include <optional>
#include <string_view>

#include "decision/head_checks.hpp"
#include "decision/request_rules.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "options/proxy.hpp"

namespace weir::decision {

/// Returns the refusal of a whole head that is longer than downstream.max_head.
std::optional<http::Refusal> refuse_large_head(const options::Downstream& downstream,
                                               std::string_view head);

/// Parses a whole head that request.peer sent, and checks it as check_head() does. All views point
/// into `head`. Returns the refusal, if the request is refused.
std::optional<http::Refusal> inspect_head(const RequestRules& rules, std::string_view head,
                                          http::ReceivedRequest& request);

}  // namespace weir::decision
