// The claims of a request as a Redis command, and its reply as decisions.
//
// Commands are appended in RESP to a buffer of the caller; nothing else is allocated. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "redis/script.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"

struct redisReply;

namespace weir::redis {

/// A policy_id without a name.
inline constexpr std::uint32_t no_policy = std::numeric_limits<std::uint32_t>::max();

/// How keys are named: PREFIX{<identity, 32 hex digits>}:<policy name>. The braces make all keys of
/// one identity fall in one slot of a cluster.
struct KeySpace {
  std::string_view prefix;
  std::span<const std::string> policy_names;  ///< by Claim::policy_id
};

void append_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                std::uint32_t policy_id);

/// The key of the overrides of an identity, beside its counters: PREFIX{<identity>}:!.
void append_overrides_key(std::string& out, std::string_view prefix, const Hash128& identity);

/// The set whose script_for() decides these claims.
AlgorithmSet algorithms_of(std::span<const store::Claim> claims);

/// A script: the 40 hex digits of the SHA-1 that SCRIPT LOAD returned, or its text.
struct ScriptName {
  enum class By : std::uint8_t { sha, text } by = By::sha;
  std::string_view value;
};

/// EVALSHA or EVAL of all claims of one request. `now` is for scripts of Clock::argument only.
void append_question(std::string& out, ScriptName script, const KeySpace& keys,
                     std::span<const store::Claim> claims, std::optional<Instant> now = {});

/// DEL of a key.
void append_forget(std::string& out, const KeySpace& keys, const Hash128& identity,
                   std::uint32_t policy_id);

/// Reads the script's reply: one decision for each claim, in their order, and whether the request
/// is admitted. Writes `limit` of a decision only if an override is in force; the caller sets it
/// when it asks, because the claims need not live until the answer. Returns false and writes
/// nothing if no script of ours returns such a reply: an error, another type or length, values out
/// of range.
bool read_answer(const redisReply& reply, std::span<rules::Decision> decisions, bool& admitted);

}  // namespace weir::redis
