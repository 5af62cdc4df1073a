// A request that the shared store decides, from asking to its verdict. Stays where it is meanwhile,
// and outlives the answer.
#pragma once

#include <boost/container/static_vector.hpp>

#include "base/time.hpp"
#include "config/config.hpp"
#include "limiter/verdict.hpp"
#include "redis/store.hpp"

namespace weir::limiter {

struct Inquiry {
  template <class T>
  using OneALimit = boost::container::static_vector<T, config::limits_per_route>;

  Instant sent_at{};
  bool may_be_remembered = false;  ///< a denial holds for the same request until its retry_after
  OneALimit<LimitVerdict> limits;
  OneALimit<rules::Decision> decisions;
  redis::Question question;
};

}  // namespace weir::limiter
