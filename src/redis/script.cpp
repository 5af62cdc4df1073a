#include "redis/script.hpp"

#include <string_view>

#include "redis/joined_command.hpp"
#include "redis/lua_parts.hpp"

namespace weir::redis {
namespace {

using rules::Algorithm;

/// Definitions belong to all scripts; the parts that decide belong to those that read holds, or to
/// the others.
enum class Role : std::uint8_t { defines, decides, decides_beside_holds };

struct Part {
  std::string_view text;
  AlgorithmSet users;
  Role role = Role::defines;
};

constexpr AlgorithmSet all = with_holds - 1;
constexpr AlgorithmSet arrivals = set_of(Algorithm::gcra) | set_of(Algorithm::leaky_bucket);
constexpr AlgorithmSet windows =
    set_of(Algorithm::fixed_window) | set_of(Algorithm::attributed_window);

/// In the order in which they are joined: a part uses only earlier ones.
constexpr Part parts[] = {
    {lua::arguments, all},
    {lua::span, all},
    {lua::value, all},
    {lua::overrides, all},
    {lua::arrival, arrivals},
    {lua::window, windows},
    {lua::fixed_window, set_of(Algorithm::fixed_window)},
    {lua::attributed_window, set_of(Algorithm::attributed_window)},
    {lua::sliding_window, set_of(Algorithm::sliding_window)},
    {lua::sliding_log, set_of(Algorithm::sliding_log)},
    {lua::token_bucket, set_of(Algorithm::token_bucket)},
    {lua::gcra, set_of(Algorithm::gcra)},
    {lua::leaky_bucket, set_of(Algorithm::leaky_bucket)},
    {lua::concurrency, set_of(Algorithm::concurrency)},
    {lua::one_claim, all, Role::decides},
    {lua::claims, all, Role::decides},
    {lua::holds, all, Role::decides_beside_holds},
    {lua::held_claims, all, Role::decides_beside_holds},
    {lua::refunds, all, Role::decides_beside_holds},
    {lua::held_decisions, all, Role::decides_beside_holds},
};

void append_parts(std::string& script, AlgorithmSet algorithms, Role role) {
  for (const Part& part : parts) {
    if ((part.users & algorithms) != 0 && part.role == role) script += part.text;
  }
}

std::string_view clock_part(Clock clock) {
  return clock == Clock::server ? lua::clock_server : lua::clock_argument;
}

std::string_view gcra_part(AlgorithmSet algorithms) {
  return algorithms == set_of(Algorithm::gcra) ? lua::gcra_alone : std::string_view();
}

/// The functions of the algorithms are created once in a call, when a request first needs them. A
/// claim that gcra_alone.lua does not decide is counted as 2.5 that it does: work_of() has the
/// same number.
std::string joined_script_for(AlgorithmSet algorithms, Clock clock) {
  std::string script{clock_part(clock)};
  script += "local most_work = " + std::to_string(most_joined_claims(algorithms)) + "\n";
  script.append(lua::joined_requests).append("local decide_any\nlocal function decide()\n");
  script.append(gcra_part(algorithms)).append("if not decide_any then\n");
  append_parts(script, algorithms, Role::defines);
  script.append(lua::joined_work).append("function decide_any()\n");
  if (algorithms == set_of(Algorithm::gcra)) script += "work = work + 1.5 * claim_count\n";
  append_parts(script, algorithms, Role::decides);
  return script.append("end\nend\nreturn decide_any()\nend\n").append(lua::joined);
}

}  // namespace

std::string script_for_overrides(Clock clock) {
  return std::string(clock_part(clock)).append(lua::change_override);
}

std::string script_for_event_marks(Clock clock) {
  return std::string(clock_part(clock)).append(lua::event_mark);
}

std::string script_for_instances(Clock clock) {
  return std::string(clock_part(clock)).append(lua::instances);
}

std::string script_for(AlgorithmSet algorithms, Clock clock) {
  if ((algorithms & joins_requests) != 0)
    return joined_script_for(static_cast<AlgorithmSet>(algorithms & ~joins_requests), clock);
  const bool reads_holds = (algorithms & with_holds) != 0;
  std::string script{clock_part(clock)};
  if (!reads_holds) script.append(lua::one_request).append(gcra_part(algorithms));
  append_parts(script, algorithms, Role::defines);
  append_parts(script, algorithms, reads_holds ? Role::decides_beside_holds : Role::decides);
  return script;
}

}  // namespace weir::redis
