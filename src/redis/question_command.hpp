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
#include "store/claim.hpp"

namespace weir::redis {

/// A policy_id without a name.
inline constexpr std::uint32_t no_policy = std::numeric_limits<std::uint32_t>::max();

/// How keys are named: PREFIX{<identity, 32 hex digits>}:<policy name>:<state_code>. The braces
/// make all keys of one identity fall in one slot of a cluster.
struct KeySpace {
  std::string_view prefix;
  std::span<const std::string> policy_names;  ///< by Claim::policy_id
};

/// Identifies what a key contains: a letter for the algorithm, and the version of its state, which
/// changes when the scripts read it differently. Instances that count a policy in different ways,
/// such as those before and after a deployment, use different keys, so neither overwrites what the
/// other has counted.
std::string_view state_code(rules::Algorithm algorithm);

void append_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                std::uint32_t policy_id, rules::Algorithm algorithm);

/// The key of the overrides of an identity, beside its counters: PREFIX{<identity>}:!.
void append_overrides_key(std::string& out, std::string_view prefix, const Hash128& identity);

/// The marks of the events of a key under a policy (store/event_marks.hpp):
/// PREFIX{<identity>}:<policy name>:e1.
void append_event_marks_key(std::string& out, const KeySpace& keys, const Hash128& identity,
                            std::uint32_t policy_id);

/// The hash of a key's holds: the key, and this.
inline constexpr std::string_view holds_suffix = ":h";

// The parts of a command, in RESP.
void append_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity,
                     std::uint32_t policy_id, rules::Algorithm algorithm,
                     std::string_view suffix = {});
void append_overrides_key_bulk(std::string& out, const KeySpace& keys, const Hash128& identity);
/// The arguments of a claim, as lua/arguments.lua reads them, and their number.
void append_arguments(std::string& out, const store::Claim& claim, std::uint32_t repeats);
std::size_t arguments_of(const store::Claim& claim);
/// Attributes as the argument of a claim has them: cut, printable, separated by tabs.
std::string joined_attributes(std::span<const std::string> attributes);

/// The set whose script_for() decides these claims.
AlgorithmSet algorithms_of(std::span<const store::Claim> claims);

/// A script: the 40 hex digits of the SHA-1 that SCRIPT LOAD returned, or its text.
struct ScriptName {
  enum class By : std::uint8_t { sha, text } by = By::sha;
  std::string_view value;
};

/// The parts of a question as a command, and where they begin in it.
struct QuestionParts {
  std::size_t claims = 0;     ///< each with two keys
  std::size_t arguments = 0;  ///< without that of the time
  std::size_t keys_at = 0;
  std::size_t arguments_at = 0;
  std::size_t time_at = 0;  ///< the end of the command if it has no time
};

/// EVALSHA or EVAL of all claims of one request. `now` is for scripts of Clock::argument only.
/// `repeats`: see store::Acquisition. Returns the parts of the command in `out`.
QuestionParts append_question(std::string& out, ScriptName script, const KeySpace& keys,
                              std::span<const store::Claim> claims, std::optional<Instant> now = {},
                              std::uint32_t repeats = 0);

/// DEL of the keys of all algorithms, of their holds, and of the marks of events.
void append_forget(std::string& out, const KeySpace& keys, const Hash128& identity,
                   std::uint32_t policy_id);

}  // namespace weir::redis
