// The evaluation of one request: its claims, their decisions and the limits they come from.
//
// Owned by the exchange and reused for the next request, so that nothing is allocated in the steady
// state. It must not move from Limiter::decide() until the result is available.
#pragma once

#include <vector>

#include "limiter/attribute_texts.hpp"
#include "limiter/verdict.hpp"
#include "store/store.hpp"

namespace weir::limiter {

struct Evaluation {
  std::vector<store::Claim> claims;
  std::vector<const Policy*> policies;     ///< policies[i] belongs to claims[i]
  std::vector<rules::Decision> decisions;  ///< at least as many; the store writes them
  AttributeTexts attributes;               ///< of the claims
  store::Acquisition acquisition;          ///< views the claims and the decisions
  std::vector<LimitVerdict> limits;        ///< of the verdict
  Verdict verdict;                         ///< views the limits

  /// Ready for the next request.
  void clear() {
    claims.clear();
    policies.clear();
    attributes.clear();
    limits.clear();
  }
};

}  // namespace weir::limiter
