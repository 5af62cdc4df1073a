// A request of a log as its peer would have sent it: the bytes of its head, and how it went on.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/time.hpp"
#include "replay/logged_request.hpp"

namespace weir::replay {

/// Owns its texts. Reused: nothing is allocated in the steady state.
struct Arrival {
  Instant at{};  ///< when it is decided
  IpAddress peer{};
  std::string head{};                ///< empty: the log has no valid request
  std::optional<int> status{};       ///< of its response
  std::optional<Instant> ends_at{};  ///< empty: the log has no duration
};

/// Fills an arrival. `host`: of a request whose log has none. The client of the log is the peer. A
/// field that HTTP does not allow is left out.
void fill(Arrival& arrival, const LoggedRequest& logged, std::string_view host);

}  // namespace weir::replay
