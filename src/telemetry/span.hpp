// The span of one request in the JSON encoding of OTLP (opentelemetry-proto, trace/v1), with the
// attributes of the semantic conventions for HTTP servers.
//
// A Span consists of views and numbers and is written at once. It has nothing that the access log
// does not have: no query, no header but User-Agent, identities as keyed hashes. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"

namespace weir::telemetry {

/// Longer paths and user agents are cut, so that a client cannot fill the memory of the queue.
inline constexpr std::size_t longest_path = 1024;
inline constexpr std::size_t longest_user_agent = 256;

/// Empty texts and absent numbers have no attribute.
struct Span {
  std::string_view trace_id{};   ///< 32 hexadecimal digits
  std::string_view span_id{};    ///< 16
  std::string_view parent_id{};  ///< 16, of the client's span; empty: the trace begins here
  std::uint8_t trace_flags = 0;  ///< of traceparent
  Instant begun_at{};
  Instant ended_at{};
  std::string_view method{};
  std::string_view scheme{};
  std::string_view path{};
  std::string_view route_pattern{};  ///< the path of the route that matches: `/v1/**`
  std::string_view route{};          ///< its name
  int status = 0;                    ///< 0: there was no response
  std::string_view protocol_version{};
  std::optional<IpAddress> client{};
  std::string_view user_agent{};
  std::string_view decision{};  ///< as in the access log
  std::string_view policy{};    ///< the policy that decided
  std::optional<std::int64_t> cost{};
  std::optional<std::int64_t> remaining{};
  std::optional<Duration> retry_after{};
  std::optional<Duration> delay{};
  std::string_view plan{};
  std::string_view store{};
  std::optional<Hash128> identity{};
  std::string_view identity_kind{};
  std::string_view upstream{};
  std::string_view request_id{};
  std::string_view aborted_by{};
};

void append_span(std::string& out, const Span& span);

}  // namespace weir::telemetry
