// A request of a log as its peer would have sent it: the bytes of its head, and how it went on.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/charge.hpp"
#include "replay/logged_request.hpp"

namespace weir::replay {

/// The hash that Weir's own log has for an identity.
struct LoggedIdentity {
  std::string name{};  ///< in the configuration
  Hash128 hash{};
};

/// Owns its texts. Reused: nothing is allocated in the steady state.
struct Arrival {
  Instant at{};  ///< when it is decided, or begins to wait for a slot
  IpAddress peer{};
  std::string head{};                ///< empty: the log has no valid request
  bool is_service_call = false;      ///< of the rate limit service; then the head is empty
  std::optional<int> status{};       ///< of its response
  std::optional<int> grpc_status{};  ///< empty: not a gRPC call, or not in the log
  bool client_has_left = false;      ///< before the response was complete
  /// What Weir has decided, if it is a line of Weir's own log.
  struct Logged {
    std::string decision{};  ///< empty: no limit applied
    std::string policy{};
    std::optional<std::int64_t> remaining{};
    std::vector<LoggedIdentity> identities{};
    /// The units that a policy charged of those it held.
    struct Cost {
      std::string policy{};
      std::string field{};  ///< cost_field() of own_log.hpp
      std::string units{};
    };
    std::vector<Cost> costs{};
    /// When it asked again while it waited for a slot, or gave up.
    std::vector<Instant> queue_steps{};
    /// It gave up then: its client had left, its deadline had passed, or Weir stopped.
    bool was_interrupted = false;
  };
  bool is_own = false;
  Logged logged{};          ///< if is_own
  std::string_view file{};  ///< outlives the arrival
  std::uint64_t line = 0;
  std::optional<Instant> ends_at{};  ///< empty: the log has no duration

  limiter::RequestEnd end() const {
    return {.status = status,
            .grpc_status = grpc_status,
            .is_grpc = grpc_status.has_value(),
            .client_has_left = client_has_left};
  }
};

/// Fills an arrival. `host`: of a request whose log has none. The client of the log is the peer. A
/// field that HTTP does not allow is left out. The head of a line of Weir's own log has
/// the fields of own_log.hpp.
void fill(Arrival& arrival, const LoggedRequest& logged, std::string_view host);

}  // namespace weir::replay
