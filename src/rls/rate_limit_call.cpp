#include "rls/rate_limit_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

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

/// The time until hits that were looked at have room. More than one have it at the latest when all
/// is whole, and those beyond the limit never.
std::optional<Duration> room_after(const rules::Decision& decision, std::int64_t hits) {
  if (hits > decision.limit) return std::nullopt;
  return hits > 1 ? decision.reset_after : decision.more_after;
}

/// The hits of a limit that are not near it, rounded as envoyproxy/ratelimit does: in 32 bits
/// (GetResponseDescriptorStatus in its src/limiter/base_limiter.go).
std::int64_t near_limit(std::int64_t limit, double ratio) {
  return static_cast<std::int64_t>(
      std::floor(static_cast<float>(limit) * static_cast<float>(ratio)));
}

/// Adds units that are given back.
void show_given_back(rules::Decision& decision, std::int64_t units) {
  decision.remaining = std::min(decision.remaining + units, decision.limit);
  if (decision.remaining == decision.limit)
    decision.reset_after = decision.more_after = Duration{0};
}

/// Makes the decision about a demand that was denied that of a limit that has been used up since.
void show_used_up(rules::Decision& decision, const rules::Policy& numbers,
                  const rules::Decision& rest) {
  const bool slides = numbers.algorithm == rules::Algorithm::sliding_window ||
                      numbers.algorithm == rules::Algorithm::sliding_log;
  // In a bucket, and in a window that ends at once, the demand waits longer by what has been taken.
  // In one that slides it fits at the latest when all is whole.
  if (decision.retry_after)
    decision.retry_after = slides
                               ? std::max(*decision.retry_after, rest.reset_after)
                               : *decision.retry_after +
                                     std::max(rest.reset_after - decision.reset_after, Duration{0});
  decision.remaining = rest.remaining;
  decision.reset_after = rest.reset_after;
  decision.more_after = rest.more_after;
}

/// A window of the clock ends whether or not it is used, and the protocol counts whole seconds.
Duration reset_of(const rules::Policy& numbers, const rules::Decision& decision, Instant now) {
  const bool has_clock_windows =
      numbers.algorithm == rules::Algorithm::fixed_window && numbers.anchor == rules::Anchor::clock;
  if (!has_clock_windows) return decision.reset_after;
  return rules::window_end(numbers, rules::window_start(numbers, now)) -
         std::chrono::floor<std::chrono::seconds>(now);
}

/// Whether there was nothing to decide. A limit that does not limit the request for other reasons,
/// such as an override, is a decision.
bool are_unlimited(std::span<const std::unique_ptr<limiter::Evaluation>> evaluations) {
  return std::ranges::all_of(evaluations, [](const auto& evaluation) {
    return evaluation->verdict.outcome == limiter::Outcome::unlimited;
  });
}

}  // namespace

std::optional<InvalidRequest> RateLimitCall::prepare(const CallRules& rules, Method method,
                                                     limiter::Limiter& limiter) {
  rules_ = &rules;
  limiter_ = &limiter;
  method_ = method;
  limits_.clear();
  decisions_ = 0;
  is_judged_ = false;
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
  return limiter_->decide(*evaluations_[decision], claims_, completion, now);
}

void RateLimitCall::conclude(std::size_t decision, const store::Result& result) {
  limiter_->conclude(*evaluations_[decision], result);
}

const limiter::Policy& RateLimitCall::policy_of(const AppliedLimit& applied) const {
  return rules_->limits.policies[applied.claim.policy];
}

/// The verdict of a decision that the store did not make; nullptr: it has made all.
const limiter::Verdict* RateLimitCall::failure() const {
  for (std::size_t i = 0; i < decisions_; ++i)
    if (evaluations_[i]->verdict.outcome == limiter::Outcome::failed)
      return &evaluations_[i]->verdict;
  return nullptr;
}

bool RateLimitCall::settle(store::Completion& completion, Instant now) {
  if (method_ == Method::check || method_ == Method::reserve || failure() != nullptr) return false;
  judge(now);
  give_back_hits(now);
  give_back_charges(now);
  return method_ == Method::decide && use_up(completion, now);
}

void RateLimitCall::give_back(const AppliedLimit& applied, std::int64_t units, bool alone,
                              Instant now) const {
  const store::Claim& claim = evaluations_[applied.evaluation]->claims[applied.index];
  if (limiter_->numbers_of(applied.claim) == nullptr) return;
  const store::Settlement settlement{
      .policy = alone ? claim.local_policy : claim.policy,
      .key = {.identity = claim.identity, .policy_id = claim.policy_id},
      .actual = -units,
      .alone = alone};
  limiter_->store().settle({&settlement, 1}, now);
}

/// Gives negative hits back.
void RateLimitCall::give_back_hits(Instant now) {
  if (is_denied_ && !rules_->descriptors.options().charges_each) return;
  for (AppliedLimit& applied : applied_.all()) {
    if (!applied.is_asked || applied.hits >= 0) continue;
    give_back(applied, -applied.hits, false, now);
    if (applied.beyond > 0 && applied.decision.override_effect == rules::OverrideEffect::none)
      applied.decision.remaining = std::min(applied.found, applied.decision.limit);
    else
      show_given_back(applied.decision, -applied.hits);
  }
}

/// Gives back what a call has charged that is denied all the same: the store admits a look, whose
/// cost is 0, and quotas.
void RateLimitCall::give_back_charges(Instant now) {
  if (!is_denied_ || rules_->descriptors.options().charges_each || decisions_ == 0) return;
  const limiter::Evaluation& decided = *evaluations_.front();
  if (decided.verdict.outcome != limiter::Outcome::allowed) return;
  for (AppliedLimit& applied : applied_.all()) {
    if (!applied.is_decided || !applied.decision.allowed || applied.claim.cost == 0) continue;
    const bool alone = store::contains(decided.alone, applied.index);
    give_back(applied, applied.claim.cost, alone, now);
    show_given_back(applied.decision, applied.claim.cost);
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

/// Takes all decisions out of their evaluations, once.
void RateLimitCall::judge(Instant now) {
  if (std::exchange(is_judged_, true)) return;
  for (AppliedLimit& applied : applied_.all())
    take(applied, now);
  is_denied_ = denying_quota() != nullptr ||
               std::ranges::any_of(applied_.all(), [&](const AppliedLimit& applied) {
                 return applied.limits() && !applied.decision.allowed && !policy_of(applied).shadow;
               });
}

/// Takes a decision out of its evaluation. There is none if the limit does not limit the request.
void RateLimitCall::take(AppliedLimit& applied, Instant now) const {
  if (applied.is_asked) {
    const limiter::Policy& policy = policy_of(applied);
    const limiter::Evaluation& evaluation = *evaluations_[applied.evaluation];
    const auto is_it = [&](const limiter::LimitVerdict& limit) {
      return limit.policy == &policy && limit.identity == applied.claim.identity;
    };
    applied.decision = evaluation.decisions[applied.index];
    applied.is_decided = std::ranges::any_of(evaluation.limits, is_it);
    if (!applied.is_decided) return;
  }
  rules::Decision& decision = applied.decision;
  applied.found = decision.remaining;
  const bool is_admitted = decision.allowed;
  decision.allowed = !is_over(applied);
  if (is_admitted && !decision.allowed && !decision.retry_after)
    decision.retry_after = room_after(decision, applied.hits);
  if (applied.beyond > 0 && decision.override_effect == rules::OverrideEffect::none) {
    decision.limit = std::max<std::int64_t>(decision.limit - applied.beyond, 0);
    decision.refill = applied.claim.terms->terms.numbers.refill;  // as the limit, not of the terms
    decision.remaining = std::max<std::int64_t>(decision.remaining - applied.beyond, 0);
  }
  if (applied.denies_all) {
    decision.limit = decision.remaining = 0;
    decision.refill = options::length_of(applied.current.unit);
    decision.reset_after = rest_of(applied.current.unit, now);
    decision.more_after = Duration{0};
    decision.retry_after.reset();  // never, whatever the policy has left
  }
}

/// The terms that a limit was decided with.
const limiter::Terms& RateLimitCall::terms_of(const AppliedLimit& applied) const {
  if (!applied.is_asked) return policy_of(applied);
  return *evaluations_[applied.evaluation]->policies[applied.index].terms;
}

const limiter::Verdict& RateLimitCall::verdict(Instant now) {
  if (const limiter::Verdict* const failed = failure()) return verdict_ = *failed;
  judge(now);
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.limits()) continue;
    limits_.push_back({.policy = &policy_of(applied),
                       .terms = &terms_of(applied),
                       .decision = applied.decision,
                       .cost = std::max<std::int64_t>(applied.hits, 0),
                       .identity = applied.claim.identity,
                       .identity_index = applied.claim.identity_index});
  }
  const bool is_violated = std::ranges::any_of(limits_, limiter::violated);
  const auto decider =
      decisions_ == 0 ? limiter::Decider::memory : evaluations_[decisions_ - 1]->verdict.decider;
  verdict_ = limiter::verdict_of(limits_, !is_violated, decider);
  if (limits_.empty() && are_unlimited(std::span(evaluations_).first(decisions_)))
    verdict_.outcome = limiter::Outcome::unlimited;
  const AppliedLimit* const quota = is_violated ? nullptr : denying_quota();
  if (quota != nullptr) {
    verdict_.outcome = limiter::Outcome::denied;
    verdict_.deciding = &policy_of(*quota);
    verdict_.retry_after = quota->decision.retry_after;
  }
  if (method_ != Method::check) limiter_->count_outcomes(verdict_);
  return verdict_;
}

bool RateLimitCall::is_overridden() const {
  return std::ranges::any_of(std::span(evaluations_).first(decisions_),
                             [](const auto& evaluation) { return evaluation->is_overridden; });
}

/// Quotas deny a request if all of them that apply deny it. Returns the one that does so the
/// longest; nullptr: they do not.
const AppliedLimit* RateLimitCall::denying_quota() const {
  const AppliedLimit* latest = nullptr;
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.is_quota() || !applied.limits()) continue;
    if (!is_shown_over(applied)) return nullptr;
    const auto retry = [](const AppliedLimit& one) {
      return one.decision.retry_after.value_or(Duration::max());  // never
    };
    if (latest == nullptr || retry(applied) > retry(*latest)) latest = &applied;
  }
  return latest;
}

/// Whether the status of the descriptor is OVER_LIMIT.
bool RateLimitCall::is_shown_over(const AppliedLimit& applied) const {
  if (applied.decision.allowed) return false;
  if (applied.is_quota()) return !applied.limit->shadow_mode;
  return !policy_of(applied).shadow;
}

void RateLimitCall::answer(Response& to, Instant now) const {
  to.statuses.assign(request_.descriptors.size(), {});
  for (const std::size_t descriptor : applied_.unlimited())
    to.statuses[descriptor].limit_remaining = std::numeric_limits<std::uint32_t>::max();
  to.dynamic_metadata.clear();
  for (const AppliedLimit& applied : applied_.all()) {
    if (!applied.limits()) continue;
    const bool is_over = !applied.decision.allowed;
    if (!is_over && applied.metadata != nullptr) to.dynamic_metadata.add(*applied.metadata);
    const rules::Policy& numbers = terms_of(applied).numbers;
    DescriptorStatus status{.code = is_shown_over(applied) ? Code::over_limit : Code::ok,
                            .current_limit = applied.current,
                            .limit_remaining = saturated(applied.decision.remaining),
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
void RateLimitCall::count_hits(NamedHits& names) {
  if (method_ == Method::check) return;
  for (const AppliedLimit& applied : applied_.all()) {
    if (applied.limit == nullptr || applied.hits <= 0) continue;
    if (!applied.limits()) continue;
    HitCounters& counters = applied_.counters_of(applied, names);
    const std::int64_t limit = applied.decision.limit;
    const std::int64_t near = near_limit(limit, rules_->descriptors.options().near_limit_ratio);
    const bool is_over = !applied.decision.allowed;
    const std::int64_t left = std::min(applied.found, limit);
    const std::int64_t fitting = is_over ? std::min(left, applied.hits) : applied.hits;
    const std::int64_t used = limit - left + (is_over ? fitting : 0);
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
  rest_.claims.clear();
  used_up_.clear();
  for (AppliedLimit& applied : applied_.all()) {
    if (!applied.is_decided || applied.decision.allowed || applied.claim.cost <= 1) continue;
    const store::Claim& claim = evaluations_[applied.evaluation]->claims[applied.index];
    if (applied.decision.remaining == 0 || claim.policy->count_rejected) continue;
    rest_.claims.push_back(claim);
    rest_.claims.back().demand.overdraft = true;
    used_up_.push_back(&applied);
  }
  if (rest_.claims.empty()) return false;
  rest_.decisions.resize(rest_.claims.size());
  const auto result = limiter_->ask_again(rest_, false, completion, now);
  if (result) conclude_rest(*result);
  return !result;
}

void RateLimitCall::conclude_rest(const store::Result& result) {
  for (std::size_t i = 0; i < used_up_.size(); ++i) {
    if (result.error == store::Error::none && store::contains(result.decided, i))
      show_used_up(used_up_[i]->decision, *rest_.claims[i].policy, rest_.decisions[i]);
    else
      used_up_[i]->decision.remaining = 0;  // as it would have been
  }
}

}  // namespace weir::rls
