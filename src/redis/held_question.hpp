// Claims beside holds, and settlements, as Redis commands: lua/held_claims.lua.
//
// Appended in RESP to a buffer of the caller, as by append_question(). Pure; thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/time.hpp"
#include "redis/hold_table.hpp"
#include "redis/question_command.hpp"
#include "store/claim.hpp"

namespace weir::redis {

/// All claims of one request. `held`: for each claim its key in the table; nullptr: it holds
/// nothing.
void append_held_question(std::string& out, ScriptName script, const KeySpace& keys,
                          std::span<const store::Claim> claims,
                          std::span<const HoldTable::Sent> held, std::optional<Instant> now = {});

/// The numbers of keys of one algorithm.
void append_settlements(std::string& out, ScriptName script, const KeySpace& keys,
                        std::span<const HoldTable::Sent> held, std::optional<Instant> now = {});

/// Keeps the arguments of the policy, for settlements of the key; if there is no memory, those it
/// had.
void write_policy_arguments(HeldKey& held, const rules::Policy& policy, std::string& scratch);

}  // namespace weir::redis
