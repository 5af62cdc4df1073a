// Holds: units that admitted requests have taken but that are not charged yet, beside a state of
// any algorithm.
//
//   admit while  used(now) + held + debt + cost <= capacity
//   settle once: held -= what was held, used += what the request cost
//   refund:      used -= units charged before, never below 0
//
// A settlement above its hold takes room that is free. The rest is a debt: no cost is admitted
// until it is repaid, first with idle time, then with units that become free. Debt is counted in
// whole units and never multiplied, so products stay below 2^53. If in doubt the functions repay
// late, never early. docs/algorithms.md has the guarantee and its proof. Pure.
//
// Call repay() before admit_beside() and level_beside(): they read the debt as it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rules/arrival.hpp"
#include "rules/decision.hpp"
#include "rules/rules.hpp"
#include "rules/span.hpp"

namespace weir::rules {

/// A fresh value is all zero.
struct Holds {
  std::int64_t held = 0;  ///< units of requests in flight
  std::int64_t debt = 0;  ///< units of settlements that had no room; at most exact_limit
  /// Idle time before it has paid already. Without it the years before a key's first charge would
  /// pay for any debt.
  Instant paid_until{};
  friend bool operator==(const Holds&, const Holds&) = default;
};

constexpr bool is_empty(const Holds& holds) {
  return holds.held == 0 && holds.debt == 0;
}

/// The least wait that is reported while holds or a debt limit a key: a settlement may come sooner
/// or later, and time alone does not show when.
inline constexpr Duration hold_retry_after{1'000'000};

/// The part of a debt that idle time pays: `units`, by the first `time` of it.
struct Repayment {
  std::int64_t units = 0;
  Duration time{0};
};
Repayment paid_by_idle(const Policy& policy, Duration idle, std::int64_t debt);

/// The longest time that is reported until a debt is paid, 142 years: instants after it remain
/// below 2^53 us.
inline constexpr Duration longest_repayment{std::int64_t{1} << 52};

/// The instant at which a debt is paid by idle time that begins at `from`; limited to
/// longest_repayment after it, and to the last instant.
Instant paid_at(const Policy& policy, Instant from, std::int64_t debt);

/// The idle time that pays `units`, at most the capacity.
Duration time_to_pay(const Policy& policy, std::int64_t units);

/// Adds a debt at `now`. Idle time before it does not pay.
void owe(Holds& holds, std::int64_t units, Instant now);

/// Adds admitted units.
void hold(Holds& holds, std::int64_t units);

/// The units that are not used, holds disregarded.
template <class State>
std::int64_t room_in(const Policy& policy, const State& state, Instant now) {
  return admit(policy, state, now, {.cost = exact_limit, .overdraft = true}).units;
}
/// max_delay limits admissions, not settlements.
inline std::int64_t room_in(const Policy& policy, const LeakyBucketState& state, Instant now) {
  return units_left(policy, ahead_of(policy, state, now));
}

/// `state` with the held units ahead in the queue, as if they had been charged.
inline LeakyBucketState behind_holds(const Policy& policy, LeakyBucketState state, Instant now,
                                     std::int64_t held) {
  charge(policy, state, now, held);
  return state;
}

/// Repays debt: idle time since the state was whole pays first, then the free units are charged.
/// Units that are held are not free.
template <class State>
void repay(const Policy& policy, State& state, Holds& holds, Instant now) {
  if (holds.debt == 0) return;
  const Instant idle_from = std::max(whole_at(policy, state), holds.paid_until);
  if (now > idle_from) {
    const Repayment paid = paid_by_idle(policy, now - idle_from, holds.debt);
    holds.debt -= paid.units;
    holds.paid_until = idle_from + paid.time;
  }
  const std::int64_t free = std::max<std::int64_t>(room_in(policy, state, now) - holds.held, 0);
  const std::int64_t units = std::min(holds.debt, free);
  charge(policy, state, now, units);
  holds.debt -= units;
  if (holds.debt == 0) holds.paid_until = {};
}

/// The wait until `cost` fits beside the holds by time alone, at least hold_retry_after. Exact for
/// a debt up to the capacity; a larger one takes longer, and so does the max_delay of a queue.
template <class State>
Duration wait_beside(const Policy& policy, const State& state, const Holds& holds, Instant now,
                     std::int64_t cost) {
  const std::int64_t units = std::min(cost + holds.held, policy.capacity) + holds.debt;
  Duration wait{0};
  if (units <= policy.capacity) {
    wait = admit(policy, state, now, {.cost = units}).retry_after.value_or(Duration{0});
  } else {
    const Instant idle_from = std::max({whole_at(policy, state), holds.paid_until, now});
    wait =
        idle_from - now + time_to_pay(policy, std::min(units - policy.capacity, policy.capacity));
  }
  return std::max(wait, hold_retry_after);
}

/// Whether a demand may pass beside the holds. While there is a debt no cost is admitted, not even
/// in overdraft, which could add to it without end. With cost 0 it reads only.
template <class State>
Admission admit_beside(const Policy& policy, const State& state, const Holds& holds, Instant now,
                       Demand demand) {
  if (is_empty(holds)) return admit(policy, state, now, demand);
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  if (holds.debt > 0) {
    if (cost == 0) return {.allowed = true};
    if (cost > policy.capacity && !demand.overdraft) return {};
    return {.retry_after = wait_beside(policy, state, holds, now, demand.overdraft ? 0 : cost)};
  }
  if constexpr (std::is_same_v<State, LeakyBucketState>) {
    Admission admission = admit(policy, behind_holds(policy, state, now, holds.held), now, demand);
    if (admission.retry_after)
      admission.retry_after = std::max(*admission.retry_after, hold_retry_after);
    return admission;
  } else {
    const std::int64_t left = std::max<std::int64_t>(room_in(policy, state, now) - holds.held, 0);
    if (cost <= left) return {.allowed = true, .units = cost};
    if (demand.overdraft) return {.allowed = true, .units = left};
    if (cost > policy.capacity) return {};
    return {.retry_after = wait_beside(policy, state, holds, now, cost)};
  }
}

/// The instant from which state and holds equal fresh ones; the last instant while units are held.
template <class State>
Instant whole_beside(const Policy& policy, const State& state, const Holds& holds) {
  if (holds.held > 0) return Instant::max();
  const Instant whole = whole_at(policy, state);
  if (holds.debt == 0) return whole;
  return paid_at(policy, std::max(whole, holds.paid_until), holds.debt);
}

/// The units left beside the holds. The times assume that time alone frees units, and are at least
/// hold_retry_after.
template <class State>
Level level_beside(const Policy& policy, const State& state, const Holds& holds, Instant now) {
  if (is_empty(holds)) return level(policy, state, now);
  Level result;
  if constexpr (std::is_same_v<State, LeakyBucketState>) {
    result = level(policy, behind_holds(policy, state, now, holds.held), now);
  } else {
    result = level(policy, state, now);
    result.remaining = std::max<std::int64_t>(result.remaining - holds.held, 0);
  }
  if (holds.debt > 0) {
    result.remaining = 0;
    result.more_after = wait_beside(policy, state, holds, now, 1);
    const Holds owed{.debt = holds.debt, .paid_until = std::max(holds.paid_until, now)};
    result.reset_after = whole_beside(policy, state, owed) - now;
  }
  result.more_after = std::max(result.more_after, hold_retry_after);
  result.reset_after = std::max(result.reset_after, result.more_after);
  return result;
}

/// Gives back units that were charged before, at most those that are used and owed. They reduce a
/// debt first. Held units stay held.
template <class State>
void give_back(const Policy& policy, State& state, Holds& holds, Instant now, std::int64_t units) {
  const std::int64_t owed = std::min(units, holds.debt);
  holds.debt -= owed;
  if (holds.debt == 0) holds.paid_until = {};
  refund(policy, state, now, units - owed);
}

/// Ends a hold: releases `held` and charges `actual`, limited to exact_limit. Free room excludes
/// what other requests hold; what exceeds it becomes a debt. The start of a live window stays. A
/// negative `actual` is a refund of -actual units, as give_back(). With concurrency nothing is
/// charged. `charge_units(units)` charges the state for this settlement; a debt that is repaid is
/// charged without it.
template <class State, class ChargeUnits>
void settle(const Policy& policy, State& state, Holds& holds, Instant now, std::int64_t held,
            std::int64_t actual, ChargeUnits charge_units) {
  repay(policy, state, holds, now);
  const std::int64_t released = std::clamp<std::int64_t>(held, 0, holds.held);
  holds.held -= released;
  if constexpr (!std::is_same_v<State, ConcurrencyState>) {
    if (actual < 0) {
      give_back(policy, state, holds, now, -std::max(actual, -exact_limit));
      return repay(policy, state, holds, now);
    }
    const std::int64_t due = std::min(actual, exact_limit);
    const std::int64_t free = std::max<std::int64_t>(room_in(policy, state, now) - holds.held, 0);
    // Denied requests that count may have used the room of a hold. They do not make it a debt.
    const std::int64_t charged =
        std::min(due, policy.count_rejected ? std::max(free, released) : free);
    charge_units(charged);
    owe(holds, due - charged, now);
    repay(policy, state, holds, now);
  }
}
template <class State>
void settle(const Policy& policy, State& state, Holds& holds, Instant now, std::int64_t held,
            std::int64_t actual) {
  settle(policy, state, holds, now, held, actual, [&]([[maybe_unused]] std::int64_t units) {
    if constexpr (!std::is_same_v<State, ConcurrencyState>) charge(policy, state, now, units);
  });
}

/// As decision_of(), beside holds.
template <class State>
Decision decision_beside(const Policy& policy, const State& state, const Holds& holds, Instant now,
                         const Admission& admission) {
  Decision decision = decision_at(policy, level_beside(policy, state, holds, now), admission);
  decision.by_holds = !is_empty(holds);
  return decision;
}

}  // namespace weir::rules
