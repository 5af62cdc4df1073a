// The outcome of one request of a scenario, and its comparison with the expected one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "scenario/scenario.hpp"

namespace weir::scenario {

/// Names are those of the configuration; empty: none.
struct Happened {
  int status = 0;                             ///< that the client gets; 499 if it has left
  std::optional<std::int64_t> grpc_status{};  ///< of a gRPC call with a complete response
  std::string_view decision;                  ///< as in the access log
  std::string_view policy;                    ///< that decided
  std::string_view route;
  std::string_view plan;
  std::string_view upstream;
  std::optional<std::int64_t> retry_after;  ///< seconds, without the jitter
  Duration delay{0};                        ///< of a leaky bucket, and in the line for a slot
  std::optional<std::int64_t> left;         ///< units of the policy that decided
  std::vector<std::pair<std::string_view, std::int64_t>> remaining;  ///< by policy
  std::vector<std::pair<std::string_view, std::int64_t>> charged;    ///< by policy, in the end
  std::string head;  ///< of the response, if a field of it is expected
  std::string body;  ///< of the response, if it is expected
};

/// One expectation that did not hold.
struct Difference {
  std::string what;
  std::string expected;
  std::string found;
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Compares everything that is expected of each request; `statuses` is not.
std::vector<Difference> differences(const Expectation& expected, const Happened& happened);

}  // namespace weir::scenario
