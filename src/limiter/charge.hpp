// The key `charge` of a limit: its cost is held while the request is in progress, and charged only
// if the status of the response matches. Pure.
//
// A response is that of the upstream, or of the route's `respond`. An error that Weir generates
// instead, such as 502, is none: its cost is not charged. A client that leaves before the response
// has a status is charged, so that leaving early is no way around the limit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// `status 401, 403` or `all statuses but 500-599`.
std::string describe(const ChargeByStatus& charge);

/// How a request in progress ended.
struct RequestEnd {
  std::optional<int> status{};   ///< of the final response; empty: there was none
  bool client_has_left = false;  ///< before the response was complete
};

/// What determined the cost of a settlement; for the log and the metrics.
enum class SettledBy : std::uint8_t {
  status,   ///< of the response
  missing,  ///< there was no response
  aborted,  ///< the client left before the response had a status
};
inline constexpr std::array<std::string_view, 3> settled_by_names{"status", "missing", "aborted"};

struct Settled {
  std::int64_t units = 0;  ///< charged
  SettledBy by = SettledBy::missing;
  friend bool operator==(const Settled&, const Settled&) = default;
};

/// Settles a hold of `cost` units.
Settled settle(const ChargeByStatus& charge, std::int64_t cost, const RequestEnd& end);

}  // namespace weir::limiter
