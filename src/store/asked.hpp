// A claim while its request is being decided, and the two steps of deciding: ask, then settle.
//
// Claims of one request on one key form a chain in the request's order and share a state: what an
// earlier one will take, a later one does not get. The shard is held by the caller throughout.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"
#include "store/shard.hpp"

namespace weir::store {

struct Asked {
  const Claim* claim = nullptr;
  rules::Decision* decision = nullptr;
  Shard* shard = nullptr;
  std::uint64_t hash = 0;
  Slot* slot = nullptr;   ///< nullptr: the key is absent
  Asked* next = nullptr;  ///< the next claim on the same key
  bool leads = true;      ///< the first claim on its key; it alone has `slot` set
  rules::Admission admission{};
};

/// Answers every claim of the chain as if the earlier ones of it had been charged. Charges nothing.
void ask(Asked& leader, Instant now);

/// Charges the chain: what was admitted if the request was, and what counts though rejected. Then
/// writes the decisions. May insert the key, which moves other slots of the shard.
void settle(Asked& leader, Instant now, bool admitted);

}  // namespace weir::store
