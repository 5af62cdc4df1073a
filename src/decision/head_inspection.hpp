// Turns the bytes of a request head into a request that can be routed and forwarded. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "decision/request_rules.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "options/proxy.hpp"

namespace weir::decision {

/// Whether raw bytes may pass in a target: downstream.raw_target_bytes.
http::RawBytes raw_bytes(const options::Downstream& downstream);

/// True if downstream.max_body is set and `body_size` exceeds it.
bool is_too_large(const options::Downstream& downstream, std::uint64_t body_size);

/// Returns the refusal of a whole head that is longer than downstream.max_head.
std::optional<http::Refusal> refuse_large_head(const options::Downstream& downstream,
                                               std::string_view head);

/// Parses a whole head that request.peer sent. All views point into `head`. Returns the refusal, if
/// the request is refused. While request.keep_alive is false, the start of the next request is
/// unknown.
std::optional<http::Refusal> inspect_head(const RequestRules& rules, std::string_view head,
                                          http::ReceivedRequest& request);

}  // namespace weir::decision
