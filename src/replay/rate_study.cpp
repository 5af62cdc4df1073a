#include "replay/rate_study.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace weir::replay {
namespace {

bool is_few(std::uint64_t part, std::uint64_t whole, std::int64_t max_share) {
  return static_cast<std::int64_t>(part) * whole_share <=
         static_cast<std::int64_t>(whole) * max_share;
}

/// Finds the first round rate that denies few enough.
void choose(Suggestion& to, const std::vector<RateReport>& rates, std::int64_t max_denied) {
  to.rate.reset();
  to.smaller.reset();
  to.highest.reset();
  for (const RateReport& one : rates) {
    if (!one.is_round) continue;
    if (is_few(one.denied, to.requests, max_denied) &&
        is_few(one.denied_keys, to.keys, max_denied)) {
      to.rate = one;
      to.smaller = std::exchange(to.highest, std::nullopt);
      return;
    }
    to.highest = one;
  }
}

}  // namespace

RateStudy::RateStudy(const options::Proxy& proxy, const limiter::Options& limits, bool with_round)
    : limits_(limits), with_round_(with_round), has_holds_(limits.policies.size()) {
  for (const options::Route& route : proxy.routes) {
    for (const limiter::Limit& limit : route.limits) {
      if (limiter::holds_cost(limit, limits.policies[limit.policy]))
        has_holds_[limit.policy] = true;
    }
  }
  for (std::size_t i = 0; i < limits.policies.size(); ++i) {
    first_.push_back(terms_.size());
    terms_.push_back({.policy = i});
    for (const limiter::PlannedTerms& planned : limits.policies[i].planned)
      terms_.push_back({.policy = i, .plan = limits.plans.names[planned.plan]});
  }
}

void RateStudy::decide(const limiter::Evaluation& evaluation, const LadderEnd& end,
                       std::span<const Arrival::Logged::Cost> costs, Instant now) {
  const auto takes_part = [&](std::size_t claim) { return !evaluation.claims[claim].is_exempt; };
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    if (!takes_part(i)) continue;
    const limiter::Terms* const terms = evaluation.policies[i].terms;
    const auto is_same = [&](const limiter::AppliedPolicy& other) { return other.terms == terms; };
    const auto begin = evaluation.policies.begin();
    if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(i), is_same)) continue;
    claims_.clear();
    for (std::size_t j = i; j < evaluation.claims.size(); ++j) {
      if (evaluation.policies[j].terms == terms && takes_part(j))
        claims_.push_back(claim_of(evaluation.claims[j], evaluation.policies[j], costs));
    }
    Terms& one = terms_of(evaluation.policies[i]);
    if (!one.ladder) begin_terms(one, terms->definition);
    one.has_lasting = one.has_lasting || end.at > now;
    one.ladder->decided->decide(claims_, end, now);
    if (one.without_burst) one.without_burst->decided->decide(claims_, end, now);
  }
}

RateStudy::Terms& RateStudy::terms_of(const limiter::AppliedPolicy& applied) {
  const limiter::Policy& policy = *applied.policy;
  std::size_t index = first_[static_cast<std::size_t>(&policy - limits_.policies.data())];
  if (applied.terms == &policy) return terms_[index];
  for (const limiter::PlannedTerms& planned : policy.planned) {
    ++index;
    if (applied.terms == &planned.terms) break;
  }
  return terms_[index];
}

RateStudy::Ladder RateStudy::ladder_of(std::vector<OtherRate> rates, std::size_t policy) const {
  std::vector<rules::Policy> numbers;
  for (const OtherRate& one : rates)
    numbers.push_back(one.numbers);
  const RateLadder::Options options{.is_shadow = limits_.policies[policy].shadow,
                                    .has_holds = has_holds_[policy]};
  return {.rates = std::move(rates), .decided = RateLadder::make(std::move(numbers), options)};
}

void RateStudy::begin_terms(Terms& terms, const rules::Definition& definition) const {
  terms.ladder = ladder_of(other_rates(definition, with_round_), terms.policy);
  if (!with_round_) return;
  auto others = round_rates_without_burst(definition);
  if (!others.empty()) terms.without_burst = ladder_of(std::move(others), terms.policy);
}

LadderClaim RateStudy::claim_of(const store::Claim& claim, const limiter::AppliedPolicy& applied,
                                std::span<const Arrival::Logged::Cost> costs) {
  LadderClaim made{.identity = claim.identity,
                   .demand = claim.demand,
                   .holds = claim.holds,
                   .charge = applied.charge};
  if (!claim.holds || costs.empty() || applied.charge == nullptr || !applied.charge->cost_from)
    return made;
  const auto found = std::ranges::find(costs, applied.policy->name, &Arrival::Logged::Cost::policy);
  if (found != costs.end())
    made.stated = usage::Usage{.cost = parse_number<std::int64_t>(found->units)};
  return made;
}

std::vector<RateReport> RateStudy::reports_of(const Ladder& ladder) {
  std::vector<RateReport> reports;
  for (std::size_t i = 0; i < ladder.rates.size(); ++i) {
    const OtherRate& rate = ladder.rates[i];
    reports.push_back({.rates = rate.definition.rates,
                       .limit = rate.definition.limit,
                       .burst = rate.numbers.capacity,
                       .times = rate.times,
                       .is_round = rate.is_round,
                       .denied = ladder.decided->denials(i).requests,
                       .denied_keys = ladder.decided->denials(i).keys});
  }
  return reports;
}

std::vector<PolicyRates> RateStudy::rates() const {
  std::vector<PolicyRates> all;
  for (const Terms& terms : terms_) {
    if (!has_results(terms)) continue;
    for (const auto* const ladder : {&terms.ladder, &terms.without_burst}) {
      if (!*ladder) continue;
      all.push_back({.policy = limits_.policies[terms.policy].name,
                     .plan = terms.plan,
                     .drops_burst = ladder == &terms.without_burst,
                     .requests = (*ladder)->decided->requests(),
                     .keys = (*ladder)->decided->keys(),
                     .rates = reports_of(**ladder)});
    }
  }
  return all;
}

Suggestions RateStudy::suggestions(std::int64_t max_denied) const {
  Suggestions all{.max_denied = max_denied};
  for (const Terms& terms : terms_) {
    if (has_results(terms)) {
      all.policies.push_back(suggestion(terms, max_denied));
    } else if (const std::string& name = limits_.policies[terms.policy].name;
               terms.ladder &&
               std::ranges::find(all.without_durations, name) == all.without_durations.end()) {
      all.without_durations.push_back(name);
    }
  }
  return all;
}

bool RateStudy::has_results(const Terms& terms) const {
  return terms.ladder &&
         (terms.has_lasting || !limiter::is_concurrency(limits_.policies[terms.policy]));
}

Suggestion RateStudy::suggestion(const Terms& terms, std::int64_t max_denied) const {
  const Ladder& ladder = *terms.ladder;
  Suggestion made{.policy = limits_.policies[terms.policy].name,
                  .plan = terms.plan,
                  .requests = ladder.decided->requests(),
                  .keys = ladder.decided->keys()};
  choose(made, reports_of(ladder), max_denied);
  if (made.rate || !terms.without_burst) return made;
  Suggestion without = made;
  choose(without, reports_of(*terms.without_burst), max_denied);
  without.drops_burst = true;
  return without.rate ? without : made;
}

}  // namespace weir::replay
