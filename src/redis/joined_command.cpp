#include "redis/joined_command.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "redis/resp.hpp"

namespace weir::redis {
namespace {

using Byte = std::numeric_limits<unsigned char>;

/// Claims that Redis 7.0 decides in 100 to 170 us, by algorithm.
constexpr std::array<std::size_t, rules::algorithm_count> most_claims{20, 14, 8, 8, 20, 32, 18, 1};

std::string_view time_of(const JoinedQuestion& question) {
  return question.command.substr(question.parts.time_at);
}

std::string_view keys_of(const JoinedQuestion& question) {
  return question.command.substr(question.parts.keys_at,
                                 question.parts.arguments_at - question.parts.keys_at);
}

std::string_view arguments_in(const JoinedQuestion& question) {
  return question.command.substr(question.parts.arguments_at,
                                 question.parts.time_at - question.parts.arguments_at);
}

}  // namespace

std::size_t most_joined_claims(AlgorithmSet algorithms) {
  std::size_t most = most_joined_requests;
  for (std::size_t i = 0; i < most_claims.size(); ++i) {
    if ((algorithms & set_of(static_cast<rules::Algorithm>(i))) != 0)
      most = std::min(most, most_claims[i]);
  }
  return most;
}

std::size_t work_of(AlgorithmSet algorithms, const QuestionParts& parts) {
  const bool is_fast_if_alone = algorithms == set_of(rules::Algorithm::gcra);
  return is_fast_if_alone && parts.claims > 1 ? (5 * parts.claims + 1) / 2 : parts.claims;
}

bool can_be_joined(const QuestionParts& parts) {
  return parts.claims <= Byte::max() && parts.arguments <= Byte::max();
}

bool has_same_time(const JoinedQuestion& one, const JoinedQuestion& other) {
  return time_of(one) == time_of(other);
}

void append_joined(std::string& out, std::string_view sha,
                   std::span<const JoinedQuestion> questions) {
  std::size_t claims = 0;
  std::size_t arguments = time_of(questions.front()).empty() ? 0 : 1;
  for (const JoinedQuestion& question : questions) {
    claims += question.parts.claims;
    arguments += question.parts.arguments;
  }
  append_array_header(out, 4 + 2 * claims + arguments);
  append_bulk(out, "EVALSHA");
  append_bulk(out, sha);
  append_number(out, static_cast<std::int64_t>(2 * claims));
  for (const JoinedQuestion& question : questions)
    out += keys_of(question);
  append_bulk_header(out, 2 * questions.size());
  for (const JoinedQuestion& question : questions) {
    out += static_cast<char>(question.parts.claims);
    out += static_cast<char>(question.parts.arguments);
  }
  out += "\r\n";
  for (const JoinedQuestion& question : questions)
    out += arguments_in(question);
  out += time_of(questions.front());
}

}  // namespace weir::redis
