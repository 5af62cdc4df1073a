// The result of a question to Redis, from its reply. Pure; thread-safe.
#pragma once

#include <span>

#include "redis/hold_table.hpp"
#include "store/error.hpp"
#include "store/store.hpp"

struct redisReply;

namespace weir::redis {

/// Redis has not decided.
inline store::Result failed(store::Error error) {
  return {.error = error, .decider = store::Decider::redis};
}

/// Writes the decisions of a reply that is not an error. `acquisition`: nullptr for a key to
/// forget. Error::other if no script of ours returns such a reply.
store::Result result_of(const redisReply& reply, store::Acquisition* acquisition);

/// As result_of(), of a script that reads holds; writes a reply for each claim.
store::Result held_result_of(const redisReply& reply, const store::Acquisition& acquisition,
                             std::span<HoldTable::Reply> holds);

}  // namespace weir::redis
