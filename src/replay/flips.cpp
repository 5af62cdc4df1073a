#include "replay/flips.hpp"

#include <algorithm>
#include <variant>

#include "base/text.hpp"
#include "limiter/plans.hpp"

namespace weir::replay {
namespace {

/// All that the comparison counts.
constexpr std::size_t all_keys = 1024;

bool lists_plans_by_hash(const limiter::Options& limits) {
  return std::ranges::any_of(limits.plans.sources, [](const limiter::PlanSource& source) {
    return std::holds_alternative<limiter::PlanFromFile>(source.from);
  });
}

/// A request of Weir's own log that was denied has no response.
bool was_served(const Arrival& arrival) {
  return !arrival.is_own || arrival.status || arrival.client_has_left ||
         arrival.logged.decision != "denied";
}

}  // namespace

SharedSecret::SharedSecret(const limiter::Options& first, const limiter::Options& other)
    : limits(other) {
  secret_differs = !(first.identity_key == other.identity_key);
  has_two_hashes = secret_differs && lists_plans_by_hash(other);
  if (!has_two_hashes) limits.identity_key = first.identity_key;
}

void Flips::receive(const Arrival& arrival, Instant now) {
  if (arrival.head.empty()) return;
  const std::uint64_t label = ++labels_;
  comparison_.arrive({.head = arrival.head,
                      .peer = arrival.peer,
                      .label = label,
                      .peer_is_trusted = arrival.is_own},
                     now);
  offline::RealEnd end{.how = arrival.end()};
  if (was_served(arrival))
    end.served = std::max(Duration{0}, arrival.ends_at.value_or(arrival.at) - arrival.at);
  for (const Arrival::Logged::Cost& cost : arrival.logged.costs) {
    if (arrival.is_own)
      end.stated.push_back(
          {.policy = cost.policy, .usage = {.cost = parse_number<std::int64_t>(cost.units)}});
  }
  comparison_.end(label, std::move(end), now);
}

FlipReport Flips::report(std::size_t most_keys) const {
  FlipReport report;
  report.counts = comparison_.counts();
  for (const offline::FlippedKey& key : comparison_.top_keys(all_keys)) {
    std::vector<FlippedKeyReport>& to = key.is_denied ? report.denied : report.admitted;
    if (to.size() >= most_keys) continue;
    to.push_back({.policy = key.policy,
                  .identity = key.identity,
                  .hash = key.hash,
                  .flips = key.flips,
                  .error = key.error});
  }
  return report;
}

}  // namespace weir::replay
