#include "redis/script.hpp"

#include <string_view>

#include "redis/lua_parts.hpp"

namespace weir::redis {
namespace {

using rules::Algorithm;

/// Whether a part belongs to scripts that read holds.
enum class HoldPart : std::uint8_t { either, without, with };

struct Part {
  std::string_view text;
  AlgorithmSet users;
  HoldPart holds = HoldPart::either;
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
    {lua::one_claim, all, HoldPart::without},
    {lua::claims, all, HoldPart::without},
    {lua::holds, all, HoldPart::with},
    {lua::held_claims, all, HoldPart::with},
};

bool belongs(const Part& part, AlgorithmSet algorithms) {
  const HoldPart excluded = (algorithms & with_holds) != 0 ? HoldPart::without : HoldPart::with;
  return (part.users & algorithms) != 0 && part.holds != excluded;
}

std::string_view clock_part(Clock clock) {
  return clock == Clock::server ? lua::clock_server : lua::clock_argument;
}

}  // namespace

std::string script_for_overrides(Clock clock) {
  return std::string(clock_part(clock)).append(lua::change_override);
}

std::string script_for_instances(Clock clock) {
  return std::string(clock_part(clock)).append(lua::instances);
}

std::string script_for(AlgorithmSet algorithms, Clock clock) {
  std::string script{clock_part(clock)};
  if (algorithms == set_of(Algorithm::gcra)) script += lua::gcra_alone;
  for (const Part& part : parts) {
    if (belongs(part, algorithms)) script += part.text;
  }
  return script;
}

}  // namespace weir::redis
