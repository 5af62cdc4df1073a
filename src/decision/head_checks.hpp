// The checks of a request head that do not depend on the version of HTTP: over its method, target,
// host, fields and the declared length of its body. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "decision/request_rules.hpp"
#include "http/framing.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "options/proxy.hpp"

namespace weir::decision {

/// Whether raw bytes may pass in a target: downstream.raw_target_bytes.
http::RawBytes raw_bytes(const options::Downstream& downstream);

/// True if downstream.max_body is set and `body_size` exceeds it.
bool is_too_large(const options::Downstream& downstream, std::uint64_t body_size);

/// True if a target, as received, is longer than downstream.max_target.
bool is_too_long(const options::Downstream& downstream, std::string_view target);

/// The result of a parser, besides the parts that it stores in the request. A fault is a value
/// here, because another check may come first.
struct ParsedHead {
  /// The fault of the target or the Host field. 414 if is_too_long(); then the view has no target.
  std::optional<http::Refusal> target_fault{};
  Result<http::Framing, http::Refusal> framing;     ///< of the body
  std::optional<http::Refusal> connection_fault{};  ///< of the fields about the connection
  bool keep_alive = false;                          ///< it can carry another request
};

/// Checks a head and completes `request`, which a parser has filled: peer, fields, and in the view
/// the method and the parts of the target. Sets view.fields, framing, keep_alive and client.
///
/// Returns the first reason to refuse the request, in this order:
/// - the fault of the target;
/// - 400 for a method with a lower-case letter that no route names;
/// - the fault of the framing;
/// - 413 for a declared length above max_body;
/// - the fault of the connection;
/// - 400 for a field that decides and appears twice, and for one that looks like it. The client's
///   address is known before these two.
///
/// While request.keep_alive is false, the start of the next request is unknown.
std::optional<http::Refusal> check_head(const RequestRules& rules, const ParsedHead& head,
                                        http::ReceivedRequest& request);

}  // namespace weir::decision
