// The result of a question to Redis, from its reply. Pure; thread-safe.
#pragma once

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

}  // namespace weir::redis
