// The replies of the scripts that decide: doubles that are whole numbers below 2^53, in one string.
//
// Pure; thread-safe.
#pragma once

#include <span>

#include "redis/hold_table.hpp"
#include "rules/decision.hpp"

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

}  // namespace weir::redis
