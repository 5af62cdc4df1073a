// The scripts that decide in Redis: lua/*.lua, embedded at build time, joined for the algorithms
// that the claims of one request can have together. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rules/policy.hpp"

namespace weir::redis {

/// One bit an algorithm, with_holds, and joins_requests.
using AlgorithmSet = std::uint16_t;
constexpr AlgorithmSet set_of(rules::Algorithm algorithm) {
  return static_cast<AlgorithmSet>(1U << static_cast<unsigned>(algorithm));
}

/// The claims are decided beside the holds of their keys: other scripts do not read holds.
inline constexpr AlgorithmSet with_holds = 1U << rules::algorithm_count;
/// The script decides several requests in one call (lua/joined.lua), without holds.
inline constexpr AlgorithmSet joins_requests = 2U * with_holds;
inline constexpr std::size_t algorithm_sets_end = std::size_t{2} * joins_requests;

/// The source of a script's time: the server, or (in tests) the last argument.
enum class Clock : std::uint8_t { server, argument };

/// The text for SCRIPT LOAD and EVAL: the parts that these algorithms need, and no others. A script
/// decides any claims whose algorithms are in its set. Built once, when starting up.
std::string script_for(AlgorithmSet algorithms, Clock clock = Clock::server);

/// The text of the script that puts or removes an override: lua/change_override.lua.
std::string script_for_overrides(Clock clock = Clock::server);

/// The text of the script that marks an event as reported: lua/event_mark.lua.
std::string script_for_event_marks(Clock clock = Clock::server);

/// The text of the script that announces an instance: lua/instances.lua.
std::string script_for_instances(Clock clock = Clock::server);

}  // namespace weir::redis
