// The replies of the scripts that decide: doubles that are whole numbers below 2^53, in one string.
//
// Pure; thread-safe.
#pragma once

#include <span>

#include "redis/hold_table.hpp"
#include "rules/decision.hpp"
#include "store/error.hpp"
#include "store/store.hpp"

struct redisReply;

namespace weir::redis {

/// Reads the script's reply: one decision for each claim, in their order, and whether the request
/// is admitted. Writes `limit` of a decision only if an override is in force; the caller sets it
/// when it asks, because the claims need not live until the answer. Returns false and writes
/// nothing if no script of ours returns such a reply: an error, another type or length, values out
/// of range.
bool read_answer(const redisReply& reply, std::span<rules::Decision> decisions, bool& admitted);

/// As read_answer(), of a script that reads holds. Writes a reply about its holds for each claim.
bool read_held_answer(const redisReply& reply, std::span<rules::Decision> decisions,
                      std::span<HoldTable::Reply> holds, bool& admitted);

/// The holds alone, of a reply with one for each element of `holds`.
bool read_holds(const redisReply& reply, std::span<HoldTable::Reply> holds);

/// The reply to settlements: one for each key.
bool read_settled(const redisReply& reply, std::span<HoldTable::Reply> settled);

/// The result of a question that Redis has not decided.
inline store::Result failed(store::Error error) {
  return {.error = error, .decider = store::Decider::redis};
}

/// The result of a question to Redis. Writes the decisions of a reply that is not an error.
/// `acquisition`: nullptr for a key to forget. Error::other if no script of ours returns such a
/// reply.
store::Result result_of(const redisReply& reply, store::Acquisition* acquisition);

/// As result_of(), of a script that reads holds; writes a reply for each claim.
store::Result held_result_of(const redisReply& reply, const store::Acquisition& acquisition,
                             std::span<HoldTable::Reply> holds);

}  // namespace weir::redis
