// The copy of one exchange for a configuration in shadow (decision/traffic_copy.hpp): its request
// when it has its first decision, and its end; and the copy of a call of the rate limit service.
//
// Owned by the exchange and reused. Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "decision/decision.hpp"
#include "decision/traffic_copy.hpp"
#include "http/received_request.hpp"
#include "limiter/charge.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/request_body.hpp"
#include "rls/applied_limits.hpp"

namespace weir::proxy {

class ExchangeCopy {
 public:
  void clear() { number_ = 0; }
  /// True between begin() and end(), unless the request was skipped.
  bool is_open() const { return number_ != 0; }

  /// `read_body`: its kept part was read before the decision; nullptr: nothing was read. A request
  /// that an override decides is skipped, because overrides are not in shadow.
  void begin(decision::TrafficCopy& copy, const http::ReceivedRequest& request,
             const decision::Decision& decision, RequestBody* read_body, Instant at);
  /// `copy`: nullptr if the shadow is over. `decided_at`: when `record` was made.
  void end(decision::TrafficCopy* copy, const decision::Decision& decision,
           const DecisionRecord& record, const limiter::RequestEnd& how, Instant decided_at,
           Instant now);

 private:
  std::uint64_t number_ = 0;
};

struct CallToCopy {
  rls::Method method{};
  bool is_grpc = false;  ///< false: the message is JSON
  std::string_view message{};
  bool is_overridden = false;  ///< an override decides one of its limits
  Instant at{};                ///< when the store was asked
};
/// Copies a call of the rate limit service that has been decided. Skips a reservation, a call
/// without its message, and one that an override decides.
void copy_call(decision::TrafficCopy& copy, const CallToCopy& call);

}  // namespace weir::proxy
