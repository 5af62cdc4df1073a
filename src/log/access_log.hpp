// The access log: one line for each request, either a JSON object or in the Combined Log Format
// (docs/operations.md).
//
// An AccessRecord consists of views and numbers and is read at once. An AccessLog belongs to one
// worker; its lines go through the LineWriter that all workers share. Every JSON line has every
// field, in the same order; fields that do not apply are null. The query of the target is never
// logged, because it may hold an identity.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/random.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "log/access_log_options.hpp"
#include "log/line_writer.hpp"

namespace weir::log {

enum class AccessDecision : std::uint8_t {
  none,  ///< no limit applied; null in the line
  allowed,
  denied,
  shadow_denied,  ///< allowed, but a shadow policy would have denied it
  delayed,        ///< allowed after a wait
  error,          ///< no decision could be made
  settled,        ///< no decision: the report of another proxy about a request it has served
};

/// The word in the log; empty: none.
std::string_view to_string(AccessDecision decision);

/// The party that ended a request before its response was complete.
enum class AbortedBy : std::uint8_t {
  none,      ///< null in the line
  client,    ///< closed its connection or its sending half, or its request body broke off
  upstream,  ///< its response broke off, stalled or became invalid
  shutdown,  ///< this process, by a second signal or after `shutdown_timeout`
};

/// The word in the log; empty: none.
std::string_view to_string(AbortedBy party);

/// Why an upstream did not give a complete response; of several tries, why the last one failed.
enum class UpstreamError : std::uint8_t {
  none,             ///< null in the line
  unreachable,      ///< refused, reset while connecting, name not found
  connect_timeout,  ///< not connected within `connect_timeout`
  closed,           ///< the connection ended
  refused_stream,   ///< HTTP/2: reset with REFUSED_STREAM
  reset,            ///< HTTP/2: reset with another code
  goaway,           ///< HTTP/2: the connection ended by a GOAWAY
  invalid,          ///< the response is not valid HTTP
  timeout,          ///< no response within `response_timeout`, or its body stalled
  unhealthy,        ///< the checks of all servers fail
};

/// The word in the log; empty: none.
std::string_view to_string(UpstreamError error);

/// A policy that denied the request, or would have in enforce mode.
struct DeniedPolicy {
  std::string_view policy{};
  bool shadow = false;
  std::int64_t remaining = 0;
};

/// A limit of the request besides the one that decided.
struct OtherLimit {
  std::string_view policy{};
  Hash128 identity{};
  std::string_view identity_kind{};  ///< its name in the configuration
  std::int64_t cost = 0;
  std::optional<std::int64_t> reserved{};
};

/// Empty texts and absent numbers are null in the line.
struct AccessRecord {
  Instant time{};  ///< when the request began
  std::string_view method{};
  std::string_view path{};  ///< as received, without the query
  std::string_view route{};
  std::string_view plan{};
  int status = 0;  ///< 0 is null
  AbortedBy aborted_by = AbortedBy::none;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  Duration duration{0};
  std::string_view upstream{};
  std::string_view upstream_server{};  ///< the address of the one tried last
  std::optional<Duration> upstream_took{};
  UpstreamError upstream_error = UpstreamError::none;
  std::string_view upstream_error_code{};  ///< of HTTP/2, such as CANCEL; empty: it has none
  AccessDecision decision = AccessDecision::none;
  std::string_view policy{};                  ///< the policy that decided
  std::span<const DeniedPolicy> denied_by{};  ///< empty is null
  std::optional<std::int64_t> cost{};
  std::optional<std::int64_t> reserved{};  ///< units that were held until the response
  std::string_view settled_by{};           ///< what determined the cost then
  std::optional<std::int64_t> remaining{};
  std::optional<Duration> retry_after{};
  std::optional<Duration> delay{};
  std::optional<Duration> decision_took{};
  std::optional<Instant> decided_at{};     ///< the time that a store was given
  std::span<const Instant> queue_steps{};  ///< as in DecisionRecord; empty is null
  std::string_view store{};
  std::optional<IpAddress> client{};
  std::optional<Hash128> identity{};
  std::string_view identity_kind{};            ///< its name in the configuration
  std::span<const OtherLimit> other_limits{};  ///< empty is null
  std::string_view request_id{};
  std::string_view trace_id{};
  std::string_view user_agent{};
  std::string_view protocol{};                ///< "HTTP/1.1"
  std::optional<std::int64_t> grpc_status{};  ///< of a gRPC call
};

/// Appends the line with its '\n'.
void append_json_line(std::string& text, const AccessRecord& record);
void append_text_line(std::string& text, const AccessRecord& record);

class AccessLog {
 public:
  /// `seed` makes the sampling of the workers independent of each other.
  AccessLog(const AccessLogOptions& options, LineWriter& writer, std::uint64_t seed = 0);

  /// True if the line of this request is to be written. Called once per request, before a record is
  /// made. `denied` includes requests that a shadow policy would have denied, if the caller counts
  /// them.
  bool wants(bool denied);
  void write(const AccessRecord& record) {
    buffer_.add([&](std::string& out) { append_line_(out, record); });
  }
  /// Passes on the lines collected so far; called on the worker's tick.
  void flush() { buffer_.flush(); }

 private:
  bool is_sampled();

  LineBuffer buffer_;
  bool all_;
  bool denied_;
  void (*append_line_)(std::string&, const AccessRecord&);
  std::uint64_t threshold_;  ///< of 2^32: the fraction of lines written
  Random random_;
};

}  // namespace weir::log
