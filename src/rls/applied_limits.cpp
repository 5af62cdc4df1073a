#include "rls/applied_limits.hpp"

#include <algorithm>
#include <utility>

#include "http/ratelimit_fields.hpp"
#include "rls/reference_labels.hpp"
#include "rules/span.hpp"

namespace weir::rls {
namespace {

constexpr InvalidRequest no_domain{grpc::Status::unknown, "rate limit domain must not be empty"};
constexpr InvalidRequest no_descriptors{grpc::Status::unknown,
                                        "rate limit descriptor list must not be empty"};
constexpr InvalidRequest unknown_unit{.reason = "the unit of a limit in the request is unknown"};
constexpr InvalidRequest unusable_limit{.reason =
                                            "the limit in the request is too large for its unit"};
constexpr InvalidRequest too_many_limits{.reason = "more than 16 limits apply to the request"};

/// A rate with so many requests more is still exact.
constexpr std::int64_t most_beyond = std::int64_t{1} << 50;

}  // namespace

/// The hits of a descriptor are its own, else those of the request, at least 1. Values beyond exact
/// numbers are as good as the largest of them.
std::int64_t AppliedLimits::hits_of(const Descriptor& descriptor) const {
  const std::uint64_t hits = descriptor.hits_addend.value_or(std::max(request_->hits_addend, 1U));
  const auto bounded =
      static_cast<std::int64_t>(std::min(hits, static_cast<std::uint64_t>(rules::exact_limit)));
  return descriptor.is_negative_hits ? -bounded : bounded;
}

std::optional<InvalidRequest> AppliedLimits::find(const Request& request, const CallRules& rules,
                                                  Method method, limiter::Limiter& limiter) {
  request_ = &request;
  rules_ = &rules;
  limiter_ = &limiter;
  method_ = method;
  all_.clear();
  unlimited_.clear();
  replaced_.clear();
  stated_.clear();
  if (request.domain.empty()) return no_domain;
  if (request.descriptors.empty()) return no_descriptors;
  const DomainRules* const domain = rules.descriptors.find_domain(request.domain);
  if (domain == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    const Descriptor& descriptor = request.descriptors[i];
    if (descriptor.limit && options::length_of(descriptor.limit->unit) == Duration{0})
      return unknown_unit;
    if (const InvalidRequest* const invalid = add_limits(*domain, i)) return *invalid;
  }
  drop_replaced();
  return std::nullopt;
}

const InvalidRequest* AppliedLimits::add_limits(const DomainRules& domain, std::size_t index) {
  const Descriptor& descriptor = request_->descriptors[index];
  const auto entries = request_->entries_of(descriptor);
  const InvalidRequest* invalid = nullptr;
  if (descriptor.limit) {
    invalid = add_stated(domain, index);
  } else if (const FileLimit found = find_limit(domain, entries, scratch_);
             found.limit != nullptr) {
    invalid = add_file_limit(found, index);
  }
  const auto own = std::ranges::find_if(
      domain.policies, [&](const auto* candidate) { return matches(*candidate, entries); });
  if (invalid != nullptr || own == domain.policies.end()) return invalid;
  return add_policy(**own, index);
}

const InvalidRequest* AppliedLimits::add_policy(const options::PolicyDescriptor& own,
                                                std::size_t index) {
  const auto entries = request_->entries_of(request_->descriptors[index]);
  return add(
      index,
      {.origin = AppliedLimit::Origin::policy,
       .current = {.name = rules_->limits.policies[own.policy].name},
       .claim = {
           .policy = own.policy,
           .identity_index = own.identity.value_or(rules_->descriptors.options().identity),
           .identity = key_of(own, entries, rules_->values, rules_->limits, scratch_.counted)}});
}

const InvalidRequest* AppliedLimits::add_file_limit(const FileLimit& found, std::size_t index) {
  const options::DescriptorLimit& limit = *found.limit;
  replaced_.insert(replaced_.end(), limit.replaces.begin(), limit.replaces.end());
  if (!limit.policy) {
    unlimited_.push_back(index);
    return nullptr;
  }
  return add(index, {.limit = &limit,
                     .metadata = found.metadata,
                     .current = {limit.requests_per_unit, limit.unit, limit.name},
                     .claim = {.policy = *limit.policy,
                               .identity_index = rules_->descriptors.options().identity,
                               .identity = identity::key_of_entries(found.counted, configured_kind,
                                                                    rules_->limits.identity_key)},
                     .denies_all = limit.denies_all,
                     .names_values =
                         found.names_values && rules_->descriptors.options().reference_metrics});
}

/// The same entries with the same unit share a count, whatever the number of requests is, also with
/// a limit of a file.
const InvalidRequest* AppliedLimits::add_stated(const DomainRules& domain, std::size_t index) {
  const Descriptor& descriptor = request_->descriptors[index];
  const options::RateLimitService& service = rules_->descriptors.options();
  const auto [count, unit] = *descriptor.limit;
  auto& counted = scratch_.counted;
  const auto entries = request_->entries_of(descriptor);
  counted.assign(1, {.key = {}, .value = request_->domain});
  counted.insert(counted.end(), entries.begin(), entries.end());
  const Hash128 key = identity::key_of_entries(counted, static_cast<std::uint8_t>(unit),
                                               rules_->limits.identity_key);
  const FileLimit file = find_limit(domain, entries, scratch_);
  if (file.limit != nullptr && file.limit->policy && file.limit->unit == unit &&
      !rules_->limits.policies[*file.limit->policy].shadow) {
    return add(index, {.origin = AppliedLimit::Origin::request,
                       .current = {count, unit, {}},
                       .claim = {.policy = *file.limit->policy,
                                 .identity_index = service.identity,
                                 .identity = identity::key_of_entries(file.counted, configured_kind,
                                                                      rules_->limits.identity_key)},
                       .denies_all = count == 0});
  }
  return add(index, {.origin = AppliedLimit::Origin::request,
                     .current = {count, unit, {}},
                     .claim = {.policy = service.stated_policy,
                               .identity_index = service.identity,
                               .identity = key},
                     .denies_all = count == 0});
}

/// envoyproxy/ratelimit counts every hit, and a limit denies once more than its quota has been
/// counted. So a look at a quota that is exactly used up is OK, and hits of a quota of 0 are
/// counted for looks that follow.
const InvalidRequest* AppliedLimits::add(std::size_t descriptor, AppliedLimit applied) {
  if (all_.size() == limiter::limits_per_route) return &too_many_limits;
  const limiter::Policy& policy = rules_->limits.policies[applied.claim.policy];
  applied.descriptor = descriptor;
  applied.hits = hits_of(request_->descriptors[descriptor]);
  const bool counts_all =
      policy.numbers.count_rejected && applied.origin != AppliedLimit::Origin::policy;
  applied.is_asked = counts_all || !applied.denies_all;
  const bool is_look = applied.hits == 0 && method_ == Method::decide;
  const bool is_refund =
      applied.hits < 0 && (method_ == Method::decide || method_ == Method::report);
  if (counts_all && (is_look || is_refund))
    applied.beyond = std::clamp<std::int64_t>(-applied.hits, 1, most_beyond);
  if (applied.beyond > 0 || (applied.is_asked && applied.origin == AppliedLimit::Origin::request)) {
    const std::int64_t count = applied.current.requests_per_unit + applied.beyond;
    applied.claim.terms =
        stated_terms(policy, std::max<std::int64_t>(count, 1), applied.current.unit);
    if (applied.claim.terms == nullptr) return &unusable_limit;
  }
  all_.push_back(applied);
  return nullptr;
}

/// The terms of a policy with another rate; nullptr: no policy can have it.
const limiter::StatedTerms* AppliedLimits::stated_terms(const limiter::Policy& policy,
                                                        std::int64_t count,
                                                        options::RateLimitUnit unit) {
  rules::Definition definition = policy.definition;
  definition.rates = {{.count = count, .per = options::length_of(unit)}};
  auto numbers = rules::compile(definition);
  if (!numbers) return nullptr;
  limiter::StatedTerms& terms = stated_.emplace_back();
  terms.terms.policy_item = http::policy_item(policy.name, numbers->capacity, numbers->refill);
  terms.local = limiter_->local_shares().share_of(policy, *numbers);
  terms.terms.numbers = *std::move(numbers);
  terms.revision = static_cast<std::uint32_t>(count) * 8 + static_cast<std::uint32_t>(unit);
  return &terms;
}

HitCounters& AppliedLimits::counters_of(const AppliedLimit& applied, NamedHits& names) {
  if (applied.names_values) {
    name_.clear();
    append_hits_name(name_, request_->domain, *rules_->descriptors.find_domain(request_->domain),
                     request_->entries_of(request_->descriptors[applied.descriptor]), scratch_);
    shorten_to_labels(name_);
    if (HitCounters* const named = names.find_or_add(name_)) return *named;
  }
  return limiter_->counters_of(rules_->limits.policies[applied.claim.policy]).hits;
}

void AppliedLimits::drop_replaced() {
  if (replaced_.empty()) return;
  std::erase_if(all_, [&](const AppliedLimit& applied) {
    return applied.limit != nullptr && !applied.limit->name.empty() &&
           std::ranges::find(replaced_, applied.limit->name) != replaced_.end();
  });
}

}  // namespace weir::rls
