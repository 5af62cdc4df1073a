// Several questions in one call: the command for lua/joined.lua, made of the commands with which
// the questions would be sent alone.
//
// Pure; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "redis/question_command.hpp"
#include "redis/script.hpp"

namespace weir::redis {

/// Requests in one call. A pass of the loop rarely has more questions between two writes.
inline constexpr std::size_t most_joined_requests = 32;

/// Claims in one call of a script for these algorithms: Redis serves nothing else meanwhile, so a
/// call takes about 200 us at most, also with the slowest of the algorithms.
std::size_t most_joined_claims(AlgorithmSet algorithms);

/// The work of a question, in plain claims: at least its number of claims. Whether they read
/// overrides is not known here; lua/joined.lua counts those.
std::size_t work_of(AlgorithmSet algorithms, const QuestionParts& parts);

/// A command of append_question(), by SHA.
struct JoinedQuestion {
  std::string_view command;
  QuestionParts parts;
};

/// Whether a command has room in the format for this question.
bool can_be_joined(const QuestionParts& parts);

/// Whether the questions have the same time argument, or none.
bool has_same_time(const JoinedQuestion& one, const JoinedQuestion& other);

/// EVALSHA of several questions: can_be_joined(), with the same time. `sha`: of the script with
/// joins_requests.
void append_joined(std::string& out, std::string_view sha,
                   std::span<const JoinedQuestion> questions);

}  // namespace weir::redis
