// A request that the shared store decides, from asking to its verdict. Stays where it is meanwhile,
// and outlives the answer.
//
// Others can wait for its answer instead of asking about the same key: they hang in a ring behind
// it, in the order in which they came.
#pragma once

#include <optional>

#include <boost/container/static_vector.hpp>

#include "base/time.hpp"
#include "limiter/denial_memory.hpp"
#include "limiter/policy.hpp"
#include "limiter/verdict.hpp"
#include "redis/pending_questions.hpp"
#include "redis/store.hpp"

namespace weir::limiter {

struct Inquiry : redis::PendingLink {
  template <class T>
  using OneALimit = boost::container::static_vector<T, limits_per_route>;

  Instant arrived_at{};  ///< its decision is due the store's timeout later, whatever it waits for
  bool waits = false;    ///< for the answer to another one, and has asked nothing itself
  /// Its answer is waited for by others that have this demand.
  std::optional<DenialMemory::Key> awaited_for;
  Instant sent_at{};
  bool may_be_remembered = false;  ///< a denial holds for the same request until its retry_after
  OneALimit<LimitVerdict> limits;
  OneALimit<rules::Decision> decisions;
  redis::Question question;
};

}  // namespace weir::limiter
