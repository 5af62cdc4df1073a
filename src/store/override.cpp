#include "store/override.hpp"

#include <algorithm>

namespace weir::store {
namespace {

using Kind = Override::Kind;
using rules::OverrideEffect;

/// The later end of two denials; empty: never.
std::optional<Instant> later_end(const Override* a, const Override* b) {
  if (a == nullptr) return b->until;
  if (b == nullptr) return a->until;
  if (!a->until || !b->until) return std::nullopt;
  return std::max(*a->until, *b->until);
}

bool has_form_of(const rules::Policy& numbers, const rules::Policy& policy) {
  return numbers.algorithm == policy.algorithm && numbers.anchor == policy.anchor &&
         numbers.count_rejected == policy.count_rejected;
}

}  // namespace

OverrideInForce in_force(std::span<const Override> overrides, std::uint32_t policy_id,
                         const rules::Policy& policy, Instant now) {
  const auto find = [&](std::uint32_t id) -> const Override* {
    const auto found = std::ranges::find(overrides, id, &Override::policy_id);
    if (found == overrides.end() || (found->until && *found->until <= now)) return nullptr;
    return &*found;
  };
  const auto rest_of = [now](const std::optional<Instant>& until) {
    return until ? std::optional(*until - now) : std::nullopt;
  };
  const Override* const own = find(policy_id);
  const Override* const every = find(Override::every_policy);
  const Override* const own_denial = own && own->kind == Kind::denied ? own : nullptr;
  const Override* const every_denial = every && every->kind == Kind::denied ? every : nullptr;
  if (own_denial || every_denial) {
    return {.effect = OverrideEffect::denied,
            .ends_after = rest_of(later_end(own_denial, every_denial))};
  }
  const Override* const chosen = own ? own : every;
  if (chosen == nullptr) return {};
  const rules::Policy* numbers = chosen->kind == Kind::numbers ? &chosen->numbers : nullptr;
  if (chosen->kind == Kind::plan) {
    const auto found = std::ranges::find(chosen->plan, policy_id, &PlanNumbers::policy_id);
    if (found == chosen->plan.end()) return {};
    if (found->numbers) numbers = &*found->numbers;
  }
  if (numbers == nullptr)
    return {.effect = OverrideEffect::unlimited, .ends_after = rest_of(chosen->until)};
  if (!has_form_of(*numbers, policy)) return {.effect = OverrideEffect::malformed};
  return {
      .effect = OverrideEffect::numbers, .numbers = numbers, .ends_after = rest_of(chosen->until)};
}

}  // namespace weir::store
