// The evaluation of one request: its claims, their decisions and the limits they come from.
//
// Owned by the exchange and reused for the next request, so that nothing is allocated in the steady
// state. It must not move from Limiter::decide() until the result is available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "limiter/attribute_texts.hpp"
#include "limiter/held_units.hpp"
#include "limiter/verdict.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// A policy that applies to the request, with its terms in force.
struct AppliedPolicy {
  const Policy* policy = nullptr;
  const Terms* terms = nullptr;
  std::size_t identity = 0;        ///< index into Options::identities
  const Charge* charge = nullptr;  ///< nullptr: the cost does not depend on the response
};

struct Evaluation {
  std::vector<store::Claim> claims;
  std::vector<AppliedPolicy> policies;     ///< policies[i] belongs to claims[i]
  std::vector<rules::Decision> decisions;  ///< at least as many; the store writes them
  /// The request is refused for its token unless a limit denies it: limits that need no token are
  /// charged, so that they bound failed verifications. Index: that of the route.
  struct TokenRefusal {
    identity::TokenFault fault;
    std::size_t route = 0;
  };
  std::optional<TokenRefusal> token_refusal;
  AttributeTexts attributes;         ///< of the claims
  store::Acquisition acquisition;    ///< views the claims and the decisions
  std::vector<LimitVerdict> limits;  ///< of the verdict
  store::ClaimSet alone = 0;         ///< Result::alone
  bool has_holds = false;            ///< a claim holds its units; else `held` is not used
  HeldUnits held;                    ///< of an admitted request
  bool is_overridden = false;        ///< an override decides a claim, also one without a limit
  bool is_counted = true;            ///< false: the caller counts the outcomes of the verdict
  bool may_wait = false;             ///< has_holds, and a claim has a queue
  /// The claim in whose queue the request waits, or has waited (limiter/waiting.hpp).
  std::optional<std::size_t> waits_for;
  /// A claim that is held back because other requests wait for it, and its own cost. It is denied.
  struct HeldBack {
    std::size_t claim = 0;
    std::int64_t cost = 0;
  };
  std::optional<HeldBack> held_back;
  const std::string* plan = nullptr;  ///< of the first route that looks for one
  Verdict verdict;                    ///< views the limits

  /// Ready for the next request.
  void clear() {
    claims.clear();
    policies.clear();
    token_refusal.reset();
    is_overridden = false;
    is_counted = true;
    attributes.clear();
    limits.clear();
    if (has_holds) {
      held.clear();
      has_holds = may_wait = false;
      waits_for.reset();
      held_back.reset();
    }
    plan = nullptr;
  }
};

}  // namespace weir::limiter
