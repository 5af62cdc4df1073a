// Counts the keys of decided requests: for the list of top keys, and those that come before the
// Retry-After that they were given.
//
// Used by the worker that decides.
#pragma once

#include <cstddef>

#include "base/ip_address.hpp"
#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "limiter/retry_after_table.hpp"
#include "limiter/top_keys.hpp"
#include "limiter/verdict.hpp"

namespace weir::limiter {

/// A request that the limiter has decided.
struct DecidedRequest {
  std::size_t route = 0;  ///< its index in the configuration
  const IpAddress& client;
  Instant arrived_at{};
  Instant now{};
};

/// The places where the keys are counted, and what the count needs.
struct KeyTraffic {
  Limiter& limiter;
  const NameIds& ids;  ///< of its configuration
  const RetryAfterTable& given;
  TopKeys& keys;
};

/// Counts each key of the verdict. A request that several limits of one key apply to counts once
/// for each of their policies. Keys that an override or the plan exempts have no limit and are not
/// counted.
void count_keys(const Verdict& verdict, const DecidedRequest& request, const KeyTraffic& traffic);

}  // namespace weir::limiter
