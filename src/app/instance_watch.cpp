#include "app/instance_watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/siphash.hpp"
#include "redis/policy_numbers.hpp"

namespace weir::app {
namespace {

constexpr std::string_view different_limits =
    "instances that share this Redis have different limits: use the same identity_secret, prefixes "
    "of client_address, store.redis.replicas, store.redis.leases and policies on all of them";

std::string policy_text(const limiter::Policy& policy) {
  std::string text = policy.name + ' ' + std::to_string(redis::policy_form(policy.numbers));
  if (policy.lease) text += " leased";  // all instances must count it beside holds
  redis::each_number(policy.numbers, [&text](std::int64_t number) {
    text.append(" ").append(std::to_string(number));
  });
  return text += '\n';
}

/// A hash of the settings that decide how clients are counted. The secret is its key: one of enough
/// entropy cannot be found from it, just as it cannot be from the hash of an identity.
std::string limits_digest(const config::Config& config) {
  std::set<std::string> policies;  // their order does not matter
  for (const limiter::Policy& policy : config.limiter.policies)
    policies.insert(policy_text(policy));
  std::string text;
  for (const std::int64_t number :
       {std::int64_t{config.proxy.client_address.ipv4_prefix},
        std::int64_t{config.proxy.client_address.ipv6_prefix}, config.redis.replicas.value_or(0)})
    text.append(std::to_string(number)).append("\n");
  for (const std::string& policy : policies)
    text += policy;
  return to_hex(siphash128(config.limiter.identity_key, text));
}

}  // namespace

InstanceWatch::InstanceWatch(admin::StoreHealth& health, std::uint64_t id)
    : health_(health), id_(to_hex({.low = id})) {}

InstanceWatch::Terms InstanceWatch::terms_of(const config::Config& config) const {
  return {.announcement = std::make_shared<redis::Announcement>(
              redis::Announcement{.id = id_, .digest = limits_digest(config)}),
          .replicas = config.redis.replicas,
          .decides_locally =
              std::ranges::any_of(config.limiter.policies, [](const limiter::Policy& policy) {
                return policy.on_failure == limiter::OnFailure::local;
              })};
}

void InstanceWatch::use(Terms terms, bool is_other_store) noexcept {
  terms_ = std::move(terms);
  announced_at_.reset();
  if (is_other_store) seen_.clear();
}

std::shared_ptr<const redis::Announcement> InstanceWatch::due(Instant now) {
  if (announced_at_ && now - *announced_at_ < interval) return nullptr;
  announced_at_ = now;
  return terms_.announcement;
}

std::vector<LogLine> InstanceWatch::update(const redis::OtherInstances& others, Instant now) {
  note(others);
  replicas_.report(1 + static_cast<std::int64_t>(others.size()), now);
  return compare(others);
}

void InstanceWatch::note(const redis::OtherInstances& others) {
  std::map<std::string, Seen> listed;
  for (const redis::OtherInstance& other : others) {
    const auto before = seen_.find(other.id);
    Seen seen = before == seen_.end() ? Seen{.first_ends = other.ends} : before->second;
    seen.is_running = seen.is_running || other.ends > seen.first_ends;
    listed.emplace(other.id, seen);
  }
  seen_ = std::move(listed);
}

std::vector<LogLine> InstanceWatch::compare(const redis::OtherInstances& others) {
  using Level = LogLine::Level;
  std::vector<LogLine> lines;
  std::uint64_t running = 1;
  std::uint64_t differing = 0;
  for (const redis::OtherInstance& other : others) {
    if (!seen_.at(other.id).is_running) continue;
    ++running;
    if (other.digest != terms_.announcement->digest) ++differing;
  }
  std::string problem;
  std::string difference;
  if (differing > 0) {
    problem.append(different_limits).append("; each of them logs the hash of its own");
    difference.append(different_limits).append("; the hash of the limits of this instance is ");
    difference += terms_.announcement->digest;
  }
  health_.report_instances({.running = running,
                            .replicas = replicas_.value(),
                            .differing = differing,
                            .problem = std::move(problem)});
  if (difference != difference_) {
    lines.push_back(
        difference.empty()
            ? LogLine{Level::info, "all instances that share this Redis have the same limits again"}
            : LogLine{Level::warning, difference});
    difference_ = std::move(difference);
  }
  const bool has_more = terms_.decides_locally && terms_.replicas &&
                        running > static_cast<std::uint64_t>(*terms_.replicas);
  if (has_more && !has_more_than_replicas_) {
    lines.push_back({Level::warning,
                     std::to_string(running) + " instances use this Redis, but " +
                         "store.redis.replicas is " + std::to_string(*terms_.replicas) +
                         ": while Redis does not answer, they admit more than the limits; set it "
                         "to auto, or to the largest number of instances"});
  }
  has_more_than_replicas_ = has_more;
  return lines;
}

}  // namespace weir::app
