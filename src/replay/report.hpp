// The result of a replay: what the limits would have done with the requests of a log. Plain values,
// and their texts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "replay/flips.hpp"
#include "replay/logged_request.hpp"
#include "replay/rate_report.hpp"
#include "replay/timeline.hpp"

namespace weir::replay {

/// The lines that were read.
struct LineReport {
  struct Fault {
    std::string file;  ///< as it was given
    std::uint64_t number = 0;
    LineFault fault = LineFault::form;
  };
  std::uint64_t read = 0;        ///< that have a request
  std::uint64_t unreadable = 0;  ///< that have a fault
  std::vector<Fault> first_faults{};

  static constexpr std::size_t most_faults = 5;  ///< that are kept
};

/// Requests that a policy decided.
struct Use {
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;  ///< by this policy; in shadow mode, that it would have denied
};

struct RouteReport {
  std::string policy;
  bool is_shadow = false;
  std::string route;
  Use use;
};

struct KeyReport {
  std::string policy;
  std::string identity;  ///< its name in the configuration
  Hash128 hash;
  std::optional<std::string> address{};  ///< if the identity is the client's address
  Use use;
  /// The most units that its requests asked for in a period of `window`; of a concurrency limit,
  /// the most in progress.
  std::int64_t peak = 0;
  std::optional<Duration> window{};  ///< empty: of a concurrency limit
  Instant first_denied_at{};
};

struct PolicyReport {
  std::string policy;
  std::uint64_t keys = 0;
  std::uint64_t denied_keys = 0;  ///< with a request that the policy denied
};

struct Outcomes {
  std::uint64_t allowed = 0;  ///< also those that no limit applied to
  std::uint64_t delayed = 0;  ///< of those, after a wait
  std::uint64_t denied = 0;
  std::uint64_t shadow_denied = 0;  ///< of those allowed, that a shadow policy would have denied
  std::uint64_t undecided = 0;      ///< refused for a missing or ambiguous identity
  std::uint64_t unrouted = 0;       ///< no route, or refused with its path
  std::uint64_t malformed = 0;      ///< not a valid request, or Weir did not decide it
  std::uint64_t service_calls = 0;  ///< of the rate limit service: the log has no descriptors
};

struct Absence {
  std::string identity;
  std::uint64_t requests = 0;  ///< in which a limit looked for it
};

/// The decisions of Weir's own log, compared with those of the replay.
struct Reproduction {
  struct Difference {
    std::string file;
    std::uint64_t line = 0;
    std::string logged;    ///< the decision, its policy, and what remains: `denied by p, 0 left`
    std::string replayed;  ///< likewise
  };
  std::uint64_t compared = 0;
  std::uint64_t different = 0;
  std::vector<Difference> first{};

  static constexpr std::size_t most_kept = 5;
};

struct Report {
  LineReport lines{};
  Instant first_at{}, last_at{};     ///< of the requests
  std::uint64_t late = 0;            ///< decided at a later instant than that of the log
  std::uint64_t ahead = 0;           ///< far ahead of the lines around them, decided last
  std::uint64_t without_client = 0;  ///< without the address of a client
  Outcomes outcomes{};
  Reproduction reproduction{};
  std::vector<Absence> absent{};
  std::vector<RouteReport> routes{};
  std::vector<PolicyReport> policies{};
  std::vector<KeyReport> keys{};  ///< that were denied, the most denied first
  Timeline timeline{};
  std::vector<PolicyRates> rates{};
  std::optional<Suggestions> suggestions{};  ///< if they are wanted
  std::optional<FlipReport> flips{};         ///< if there is another configuration
};

std::string to_text(const Report& report);
std::string to_json(const Report& report);

/// A fault in the words of a person: `its time cannot be read`.
std::string_view describe(LineFault fault);

}  // namespace weir::replay
