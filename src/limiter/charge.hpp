// The units that a limit charges at the end of a request for which it has held units: the keys
// `charge`, `reserve`, `cost_from` and `missing`. Pure.
//
// A response comes from the upstream, or from the route's `respond`. An error that Weir generates
// instead, such as 502, is not a response: nothing is charged. If the client leaves before the
// response has a status, or before it has stated its cost, the held units are charged, so a client
// cannot avoid the limit by leaving early. The same applies to a request of another proxy that does
// not report its end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limiter/reserve.hpp"
#include "usage/number_reader.hpp"
#include "usage/usage_plan.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::limiter {

/// Both included.
struct StatusRange {
  int first = 0;
  int last = 0;
  friend bool operator==(const StatusRange&, const StatusRange&) = default;
};

struct ChargeByStatus {
  std::vector<StatusRange> statuses;
  bool is_exclusion = false;  ///< `status_not`: all other statuses are charged
  friend bool operator==(const ChargeByStatus&, const ChargeByStatus&) = default;
};

struct Charge {
  std::optional<ChargeByStatus> by_status{};  ///< empty: every response is charged
  /// By the status of gRPC. `by_status` is then for requests that are not gRPC calls and get no
  /// response of gRPC; if it is empty, their responses are not listed here.
  std::optional<ChargeByStatus> by_grpc_status{};
  std::optional<Reserve> reserve{};             ///< empty: the cost of the limit is held
  std::optional<usage::UsagePlan> cost_from{};  ///< empty: the held units are the cost
  bool missing_is_free = false;                 ///< `missing: zero`
  std::int64_t at_most = usage::largest_count;  ///< of what the response states
  friend bool operator==(const Charge&, const Charge&) = default;
};

/// True if the units to hold may be in the body of the request.
inline bool reads_request_body(const Charge& charge) {
  return charge.reserve && charge.reserve->in_body;
}

/// `status 401, 403`, `gRPC status 16`, or `all statuses but 500-599`.
std::string describe_statuses(const Charge& charge);
/// `header x-usage, else JSON /usage/prompt + /usage/completion`.
std::string describe(const usage::UsagePlan& cost_from);

/// How a request in progress ended.
struct RequestEnd {
  std::optional<int> status{};       ///< of the final response; empty: there was none
  std::optional<int> grpc_status{};  ///< if is_grpc; empty: the response was not complete
  bool is_grpc = false;              ///< it was a gRPC call, or the response is one of gRPC
  bool client_has_left = false;      ///< before the response was complete
  bool deadline_has_passed = false;  ///< of a gRPC call; the client chooses it
  bool lease_has_ended = false;      ///< another proxy has not reported in time how it ended
};

/// The source of the cost of a settlement; for the log and the metrics.
enum class SettledBy : std::uint8_t {
  status,   ///< of the response
  header,   ///< a field of the response
  json,     ///< a JSON pointer into the response
  reserve,  ///< the held units, because the limit has no cost_from
  missing,  ///< there was no response, or it did not state its cost
  aborted,  ///< the client left before the response had a status, or before it stated its cost
  lease,    ///< its lease ended before another proxy reported the end of the request. Keep it
            ///< last: the metrics of slots have only this one
};
inline constexpr std::array<std::string_view, 7> settled_by_names{
    "status", "header", "json", "reserve", "missing", "aborted", "lease"};

struct Settled {
  std::int64_t units = 0;  ///< charged
  SettledBy by = SettledBy::missing;
  friend bool operator==(const Settled&, const Settled&) = default;
};

/// Settles a hold of `held` units. `stated`: what the response states, for a charge with cost_from;
/// empty: no response was read.
Settled settle(const Charge& charge, std::int64_t held, const RequestEnd& end,
               const std::optional<usage::Usage>& stated = {});

}  // namespace weir::limiter
