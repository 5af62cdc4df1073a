#include "app/instance_watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "app/instance_settings.hpp"
#include "base/siphash.hpp"

namespace weir::app {
namespace {

constexpr std::size_t most_names = 8;

std::string hex(const Hash128& hash) {
  std::string text;
  append_hex(text, hash);
  return text;
}

/// The names joined with commas, the first few of them.
std::string list_of(const std::set<std::string>& names) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == most_names) break;
    text.append(text.empty() ? "" : ", ").append(name);
  }
  if (names.size() > most_names)
    text.append(" and ").append(std::to_string(names.size() - most_names)).append(" more");
  return text;
}

}  // namespace

InstanceWatch::InstanceWatch(admin::StoreHealth& health, std::uint64_t id)
    : health_(health), id_(hex({.low = id})) {}

InstanceWatch::Terms InstanceWatch::terms_of(const config::Config& config) const {
  std::string settings = instance_settings(config);
  const std::string digest = hex(siphash128(SipKey{}, settings));
  return {
      .announcement = std::make_shared<redis::Announcement>(
          redis::Announcement{.id = id_, .digest = digest, .settings = std::move(settings)}),
      .replicas = config.redis.replicas,
      .decides_locally = std::ranges::any_of(config.policies, [](const limiter::Policy& policy) {
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

std::vector<LogLine> InstanceWatch::update(const redis::OtherInstances& others) {
  note(others);
  return compare(others);
}

void InstanceWatch::note(const redis::OtherInstances& others) {
  std::map<std::string, Seen> listed;
  for (const redis::OtherInstance& other : others.instances) {
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
  for (const redis::OtherInstance& other : others.instances) {
    if (!seen_.at(other.id).is_running) continue;
    ++running;
    if (other.digest != terms_.announcement->digest) ++differing;
  }
  std::set<std::string> names;
  for (const std::string& settings : others.different) {
    for (std::string& name : differing_settings(terms_.announcement->settings, settings))
      names.insert(std::move(name));
  }
  std::string difference;
  if (differing > 0 && !names.empty()) {
    difference = "another instance with this Redis has a different " + list_of(names) +
                 "; clients are counted apart or by other numbers, so use the same "
                 "configuration on all instances";
  }
  health_.report_instances(
      {.running = running, .differing = names.empty() ? 0 : differing, .problem = difference});
  if (difference != difference_) {
    lines.push_back(difference.empty()
                        ? LogLine{Level::info, "all instances with this Redis agree again"}
                        : LogLine{Level::warning, difference});
    difference_ = std::move(difference);
  }
  const bool has_more =
      terms_.decides_locally && running > static_cast<std::uint64_t>(terms_.replicas);
  if (has_more && !has_more_than_replicas_) {
    lines.push_back({Level::warning,
                     std::to_string(running) + " instances use this Redis, but " +
                         "store.redis.replicas is " + std::to_string(terms_.replicas) +
                         ": while Redis does not answer, they admit more than the limits; set it "
                         "to the largest number of instances"});
  }
  has_more_than_replicas_ = has_more;
  return lines;
}

}  // namespace weir::app
