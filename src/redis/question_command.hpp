// One request's claims as a Redis command, and the reply as decisions.
//
// Commands are appended in RESP to a buffer that the caller keeps, and nothing else is allocated:
// many of them can wait in one buffer for one write. Pure; thread-safe.
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

/// The set whose script_for() decides these claims.
AlgorithmSet algorithms_of(std::span<const store::Claim> claims);

/// Which script: by the 40 hex digits of its SHA-1 that SCRIPT LOAD returned, or its text.
struct ScriptName {
  enum class By : std::uint8_t { sha, text } by = By::sha;
  std::string_view value;
};

/// EVALSHA or EVAL of all claims of one request. `now` is for scripts of Clock::argument only.
void append_question(std::string& out, ScriptName script, const KeySpace& keys,
                     std::span<const store::Claim> claims, std::optional<Instant> now = {});

/// Forgetting a key is a DEL; its reply says nothing of interest.
void append_forget(std::string& out, const KeySpace& keys, const Hash128& identity,
                   std::uint32_t policy_id);

/// The script's reply as decisions, one a claim in their order, and whether the request is
/// admitted. `limit` of each decision is left as it is: who asks sets it to the policy's capacity,
/// as the claims need not live until the answer. False, with nothing written, if the reply is not
/// what our script gives: an error, another type or length, values out of range.
bool read_answer(const redisReply& reply, std::span<rules::Decision> decisions, bool& admitted);

}  // namespace weir::redis
