#include "store/lease.hpp"

#include <algorithm>

#include "rules/span.hpp"
#include "store/claim.hpp"

namespace weir::store {
namespace {

/// An exhausted key is asked about so often in each `duration`, or when one lease has been
/// refilled.
constexpr int questions_when_exhausted = 8;

/// The units that refill meanwhile fit into one lease. Without holds nothing becomes available
/// before `more_after`.
Duration pause_of(const rules::Policy& policy, const Lease::Terms& terms,
                  const rules::Decision& level) {
  const std::int64_t leases = policy.capacity / std::max<std::int64_t>(terms.most, 1);
  const Duration refilled = policy.refill / std::max<std::int64_t>(leases, 1);
  const Duration pause = std::min(terms.duration / questions_when_exhausted, refilled);
  return level.by_holds ? pause : std::clamp(level.more_after, pause, terms.duration);
}

/// A time after which a demand of `cost` passes if nothing else comes. Never too short.
Duration retry_after(const rules::Policy& policy, const rules::Decision& level,
                     std::int64_t missing) {
  using enum rules::Algorithm;
  if (missing <= 1) return level.more_after;
  if (level.refill) return level.reset_after;  // other numbers than those of the policy
  if (policy.algorithm != gcra && policy.algorithm != token_bucket) return level.reset_after;
  const Duration interval{policy.interval_us + (policy.interval_remainder > 0 ? 1 : 0)};
  const std::int64_t more = missing - 1;
  const bool is_long = interval > Duration{0} && more > level.reset_after / interval;
  return is_long ? level.reset_after
                 : std::min(level.reset_after, level.more_after + more * interval);
}

}  // namespace

void expect_leases_back(const Claim& claim, rules::Decision& decision) {
  if (claim.lease == nullptr) decision.held_by_others = 0;
  if (decision.allowed || !decision.retry_after || decision.held_by_others == 0) return;
  if (claim.demand.cost - decision.remaining > decision.held_by_others) return;
  decision.retry_after = std::min(*decision.retry_after, leases_back_after);
  decision.more_after = std::min(decision.more_after, leases_back_after);
}

void Lease::note_use(Instant now) {
  used_at_ = now;
  is_passed_over_ = false;
}

std::int64_t Lease::wanted(const Terms& terms) const {
  return std::min(demand_.units(), terms.most);
}

std::int64_t Lease::units_to_ask(const Terms& terms, std::int64_t cost, Instant now) const {
  if (terms.most < least_leased_units || is_asking() || now < not_before_ || !demand_.is_hot())
    return 0;
  const std::int64_t wanted_units = wanted(terms);
  const bool is_low =
      left() <= wanted_units / 2 || left() < cost || now + terms.duration / 2 >= valid_until_;
  // Spent units are settled first, so the lease has left() units then. A valid lease of
  // enough units is renewed with one unit at least: a command about the key extends it.
  if (!is_low) return 0;
  return std::max<std::int64_t>(wanted_units - left(), left() < terms.most ? 1 : 0);
}

void Lease::on_asked(std::int64_t units, Instant now) {
  asked_ = units;
  asked_at_ = now;
}

void Lease::on_granted(const rules::Policy& policy, const Terms& terms,
                       const rules::Decision& decision, Instant now) {
  if (left() == 0) note_use(now);
  units_ += decision.held;
  is_scarce_ = is_exhausted_ = decision.held < asked_;
  // Neither a unit nor a denial is used for longer: an override may have changed after the
  // question.
  valid_until_ = asked_at_ + std::min(terms.duration, decision.ends_after.value_or(terms.duration));
  not_before_ =
      is_exhausted_ ? std::min(now + pause_of(policy, terms, decision), valid_until_) : Instant{};
  asked_ = 0;
  level_ = decision;
  answered_at_ = now;
}

void Lease::on_refused(Duration pause, Instant now) {
  asked_ = 0;
  is_exhausted_ = false;
  not_before_ = now + pause;
}

rules::Decision Lease::admission(Instant now) const {
  rules::Decision decision = level_;
  const Duration passed = now - answered_at_;
  decision.allowed = true;
  decision.retry_after.reset();
  decision.held = 0;
  decision.by_holds = true;
  decision.remaining = std::min(level_.remaining + left(), level_.limit);
  decision.more_after = std::max(level_.more_after - passed, Duration{1});
  decision.reset_after = std::max(level_.reset_after - passed, decision.more_after);
  if (level_.ends_after) decision.ends_after = std::max(*level_.ends_after - passed, Duration{1});
  return decision;
}

std::optional<rules::Decision> Lease::denial(const rules::Policy& policy, std::int64_t cost,
                                             Instant now) const {
  const std::int64_t covered = is_valid(now) ? left() : 0;
  const bool is_known =
      is_exhausted_ && now < not_before_ && cost > covered && cost <= level_.limit;
  if (!is_known) return std::nullopt;
  rules::Decision decision = admission(now);
  decision.allowed = false;
  decision.remaining = covered;
  if (cost - covered <= level_.held_by_others) {
    decision.retry_after = decision.more_after = leases_back_after;
    return decision;
  }
  const Duration wait = retry_after(policy, level_, cost - covered) - (now - answered_at_);
  decision.retry_after = std::max(wait, decision.more_after);
  return decision;
}

std::int64_t refund(Lease& lease, std::int64_t units) {
  const std::int64_t spent = std::min(units, lease.spent_);
  lease.spent_ -= spent;
  if (lease.is_exhausted_) lease.not_before_ = {};
  return spent;
}

Lease::Spent Lease::settle_spent(const Terms& terms) {
  const std::int64_t surplus = std::max<std::int64_t>(units_ - spent_ - 2 * wanted(terms), 0);
  const Spent settled{.held = spent_ + surplus, .actual = spent_};
  units_ -= settled.held;
  spent_ = 0;
  return settled;
}

Lease::Spent Lease::end() {
  const Spent settled{.held = units_, .actual = spent_};
  units_ = spent_ = 0;
  valid_until_ = {};
  is_exhausted_ = false;
  return settled;
}

}  // namespace weir::store
