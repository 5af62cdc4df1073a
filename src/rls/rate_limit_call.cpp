#include "rls/rate_limit_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "http/ratelimit_fields.hpp"
#include "rules/span.hpp"
#include "rules/window.hpp"

namespace weir::rls {
namespace {

std::uint32_t saturated(std::int64_t value) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

/// The unit of a policy's window; unknown: it is no unit.
options::RateLimitUnit unit_of(Duration window) {
  for (std::size_t i = 1; i < options::rate_limit_unit_count; ++i) {
    const auto unit = static_cast<options::RateLimitUnit>(i);
    if (options::length_of(unit) == window) return unit;
  }
  return options::RateLimitUnit::unknown;
}

/// The rest of the unit's window of the clock, as envoyproxy/ratelimit counts it.
Duration rest_of(options::RateLimitUnit unit, Instant now) {
  const Duration second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch();
  return options::length_of(unit) - second % options::length_of(unit);
}

/// A window of the clock ends whether or not it is used, and the protocol counts whole seconds.
Duration reset_of(const rules::Policy& numbers, const rules::Decision& decision, Instant now) {
  const bool has_clock_windows =
      numbers.algorithm == rules::Algorithm::fixed_window && numbers.anchor == rules::Anchor::clock;
  if (!has_clock_windows) return decision.reset_after;
  return rules::window_end(numbers, rules::window_start(numbers, now)) -
         std::chrono::floor<std::chrono::seconds>(now);
}

}  // namespace

std::optional<InvalidRequest> RateLimitCall::prepare(const CallRules& rules, Method method,
                                                     limiter::Limiter& limiter) {
  rules_ = &rules;
  limiter_ = &limiter;
  method_ = method;
  limits_.clear();
  decisions_ = 0;
  if (const auto invalid = applied_.find(request_, rules, method, limiter)) return invalid;
  place();
  return std::nullopt;
}

/// Distributes the claims over evaluations.
void RateLimitCall::place() {
  const bool is_reserve = method_ == Method::reserve;
  const bool each = rules_->descriptors.options().charges_each && !is_reserve;
  const bool is_denied =
      !each && (method_ == Method::decide || is_reserve) &&
      std::ranges::any_of(applied_.all(), [&](const AppliedLimit& applied) {
        return applied.denies_all && !rules_->limits.policies[applied.claim.policy].shadow;
      });
  for (AppliedLimit& applied : applied_.all()) {
    const bool looks = method_ == Method::check || is_denied || applied.hits < 0;
    applied.claim.cost = looks ? 0 : applied.hits;
    applied.claim.overdraft = method_ == Method::report;
    applied.claim.holds = is_reserve && applied.claim.cost > 0;
    if (!applied.is_asked) continue;
    applied.evaluation = each ? decisions_ : 0;
    decisions_ = applied.evaluation + 1;
  }
  while (evaluations_.size() < decisions_)
    evaluations_.push_back(std::make_unique<limiter::Evaluation>());
}

bool RateLimitCall::decide(std::size_t decision, store::Completion& completion, Instant now) {
  claims_.clear();
  for (AppliedLimit& applied : applied_.all()) {
    if (!applied.is_asked || applied.evaluation != decision) continue;
    applied.index = claims_.size();
    claims_.push_back(applied.claim);
  }
  return limiter_->decide(*evaluations_[decision], claims_, completion, now) != nullptr;
}

void RateLimitCall::conclude(std::size_t decision, const store::Result& result) {
  limiter_->conclude(*evaluations_[decision], result);
}

void RateLimitCall::give_back(Instant now) const {
  const bool is_denied = verdict_.outcome != limiter::Outcome::allowed &&
                         verdict_.outcome != limiter::Outcome::unlimited;
  const bool each = rules_->descriptors.options().charges_each;
  if (method_ == Method::check || (is_denied && !each)) return;
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.is_asked || applied.hits >= 0) continue;
    const limiter::Policy& policy = rules_->limits.policies[applied.claim.policy];
    const rules::Policy* const numbers = limiter_->numbers_of(applied.claim);
    if (numbers == nullptr) continue;
    const store::Settlement settlement{
        .policy = numbers,
        .key = {.identity = applied.claim.identity, .policy_id = limiter_->record_of(policy).id},
        .actual = applied.hits};
    limiter_->store().settle({&settlement, 1}, now);
  }
}

/// Whether a limit denies its hits. A look, whose cost the store always admits, asks for room.
bool RateLimitCall::is_over(const AppliedLimit& applied) const {
  if (applied.hits < 0 || method_ == Method::report) return false;
  if (!applied.is_asked) return true;
  if (!applied.is_decided) return false;
  if (!applied.decision.allowed) return true;
  if (applied.claim.cost != 0) return applied.denies_all;
  return applied.decision.remaining < std::max<std::int64_t>(applied.hits, 1);
}

/// Takes a decision out of its evaluation. Returns false if the limit does not limit the request.
bool RateLimitCall::take(AppliedLimit& applied, Instant now) const {
  const limiter::Policy& policy = rules_->limits.policies[applied.claim.policy];
  if (applied.is_asked) {
    const limiter::Evaluation& evaluation = *evaluations_[applied.evaluation];
    const auto is_it = [&](const limiter::LimitVerdict& limit) {
      return limit.policy == &policy && limit.identity == applied.claim.identity;
    };
    applied.decision = evaluation.decisions[applied.index];
    applied.is_decided = std::ranges::any_of(evaluation.limits, is_it);
    if (!applied.is_decided) return false;
  }
  rules::Decision& decision = applied.decision;
  decision.allowed = !is_over(applied);
  if (!decision.allowed && !decision.retry_after && !applied.denies_all)
    decision.retry_after = decision.more_after;
  if (applied.looks_beyond && decision.override_effect == rules::OverrideEffect::none) {
    decision.limit -= 1;
    decision.refill = applied.claim.terms->terms.numbers.refill;  // as the limit, not of the terms
    decision.remaining = std::max<std::int64_t>(decision.remaining - 1, 0);
  }
  if (applied.denies_all) {
    decision.limit = decision.remaining = 0;
    decision.refill = options::length_of(applied.current.unit);
    decision.reset_after = rest_of(applied.current.unit, now);
    decision.more_after = Duration{0};
    decision.retry_after.reset();  // never, whatever the policy has left
  }
  if (applied.hits < 0 && method_ != Method::check)  // of a call that is not denied
    decision.remaining = std::min(decision.remaining - applied.hits, decision.limit);
  return true;
}

/// The terms that a limit was decided with.
const limiter::Terms& RateLimitCall::terms_of(const AppliedLimit& applied) const {
  if (!applied.is_asked) return rules_->limits.policies[applied.claim.policy];
  return *evaluations_[applied.evaluation]->policies[applied.index].terms;
}

const limiter::Verdict& RateLimitCall::verdict(Instant now) {
  limiter::Decider decider = limiter::Decider::memory;
  for (std::size_t i = 0; i < decisions_; ++i) {
    const limiter::Verdict& one = evaluations_[i]->verdict;
    if (one.outcome == limiter::Outcome::failed) return verdict_ = one;
    decider = one.decider;
  }
  for (AppliedLimit& applied : applied_.all()) {
    if (!take(applied, now)) continue;
    const limiter::Policy& policy = rules_->limits.policies[applied.claim.policy];
    limits_.push_back({.policy = &policy,
                       .terms = &terms_of(applied),
                       .decision = applied.decision,
                       .cost = std::max<std::int64_t>(applied.hits, 0),
                       .identity = applied.claim.identity,
                       .identity_index = applied.claim.identity_index});
  }
  const bool is_denied = std::ranges::any_of(limits_, limiter::violated);
  verdict_ = limiter::verdict_of(limits_, !is_denied, decider);
  if (limits_.empty()) verdict_.outcome = limiter::Outcome::unlimited;
  if (!is_denied) deny_by_quotas();
  if (method_ != Method::check) limiter_->count_outcomes(verdict_);
  return verdict_;
}

/// Quotas deny a request if all of them that apply deny it.
void RateLimitCall::deny_by_quotas() {
  const AppliedLimit* latest = nullptr;
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.is_quota() || (applied.is_asked && !applied.is_decided)) continue;
    if (!is_shown_over(applied)) return;
    const auto retry = [](const AppliedLimit& one) {
      return one.decision.retry_after.value_or(Duration::max());  // never
    };
    if (latest == nullptr || retry(applied) > retry(*latest)) latest = &applied;
  }
  if (latest == nullptr) return;
  verdict_.outcome = limiter::Outcome::denied;
  verdict_.deciding = &rules_->limits.policies[latest->claim.policy];
  verdict_.retry_after = latest->decision.retry_after;
}

/// Whether the status of the descriptor is OVER_LIMIT.
bool RateLimitCall::is_shown_over(const AppliedLimit& applied) const {
  if (applied.decision.allowed) return false;
  if (applied.is_quota()) return !applied.limit->shadow_mode;
  return !rules_->limits.policies[applied.claim.policy].shadow;
}

void RateLimitCall::answer(Response& to, Instant now) const {
  to.statuses.assign(request_.descriptors.size(), {});
  for (const std::size_t descriptor : applied_.unlimited())
    to.statuses[descriptor].limit_remaining = std::numeric_limits<std::uint32_t>::max();
  to.dynamic_metadata.clear();
  for (const AppliedLimit& applied : applied_.all()) {
    if (applied.is_asked && !applied.is_decided) continue;
    const bool is_over = !applied.decision.allowed;
    if (!is_over && applied.metadata != nullptr) to.dynamic_metadata.add(*applied.metadata);
    const rules::Policy& numbers = terms_of(applied).numbers;
    DescriptorStatus status{.code = is_shown_over(applied) ? Code::over_limit : Code::ok,
                            .current_limit = applied.current,
                            .limit_remaining = is_over ? 0 : saturated(applied.decision.remaining),
                            .duration_until_reset = applied.denies_all
                                                        ? applied.decision.reset_after
                                                        : reset_of(numbers, applied.decision, now)};
    status.current_limit->requests_per_unit = saturated(applied.decision.limit);
    if (applied.origin == AppliedLimit::Origin::policy)
      status.current_limit->unit = unit_of(numbers.refill);
    DescriptorStatus& shown = to.statuses[applied.descriptor];
    const bool is_closer =
        !shown.current_limit ||
        (status.code == Code::over_limit && shown.code != Code::over_limit) ||
        (status.code == shown.code && status.limit_remaining < shown.limit_remaining);
    if (is_closer) shown = status;
  }
  const bool is_over_limit = verdict_.outcome == limiter::Outcome::denied ||
                             verdict_.outcome == limiter::Outcome::forbidden;
  to.overall_code = is_over_limit ? Code::over_limit : Code::ok;
  if (is_over_limit && verdict_.deciding != nullptr)
    to.dynamic_metadata.policy = verdict_.deciding->name;
}

/// Hits that are not admitted are over the limit as far as they exceed what was left.
void RateLimitCall::count_hits() const {
  if (method_ == Method::check) return;
  for (const AppliedLimit& applied : applied_.all()) {
    if (applied.limit == nullptr || applied.hits <= 0) continue;
    const limiter::Policy& policy = rules_->limits.policies[applied.claim.policy];
    limiter::HitCounters& counters = limiter_->counters_of(policy).hits;
    const std::int64_t limit = applied.decision.limit;
    const auto near = static_cast<std::int64_t>(static_cast<double>(limit) *
                                                rules_->descriptors.options().near_limit_ratio);
    const bool is_over = !applied.decision.allowed;
    if (applied.is_asked && !applied.is_decided) continue;
    const std::int64_t fitting =
        is_over ? std::min(applied.decision.remaining, applied.hits) : applied.hits;
    const std::int64_t used = limit - applied.decision.remaining + (is_over ? fitting : 0);
    const auto add = [](Counter& counter, std::int64_t hits) {
      if (hits > 0) counter.add(static_cast<std::uint64_t>(hits));
    };
    add(counters.total, applied.hits);
    add(counters.near, std::min(fitting, used - near));
    if (!is_over) {
      add(counters.within, applied.hits);
      continue;
    }
    add(counters.over, applied.hits - fitting);
    if (applied.limit->shadow_mode) add(counters.shadow, applied.hits - fitting);
  }
}

bool RateLimitCall::use_up(store::Completion& completion, Instant now) {
  if (method_ != Method::decide) return false;
  rest_.claims.clear();
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.is_decided || applied.decision.allowed || applied.claim.cost <= 1) continue;
    const store::Claim& claim = evaluations_[applied.evaluation]->claims[applied.index];
    const bool is_shadow = claim.shadow && !applied.is_quota();
    if (applied.decision.remaining == 0 || is_shadow || claim.policy->count_rejected) continue;
    rest_.claims.push_back(claim);
    rest_.claims.back().demand.overdraft = true;
  }
  if (rest_.claims.empty()) return false;
  rest_.decisions.resize(rest_.claims.size());
  return !limiter_->ask_again(rest_, false, completion, now);
}

}  // namespace weir::rls
