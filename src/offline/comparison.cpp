#include "offline/comparison.hpp"

#include <algorithm>
#include <utility>

#include "decision/refusals.hpp"
#include "limiter/verdict.hpp"

namespace weir::offline {
namespace {

/// Keys with more than 1/1024 of the flips are never missed.
constexpr std::size_t counted_keys = 1024;

/// The statuses of calls of the rate limit service.
constexpr int over_limit = 429;
constexpr int invalid_call = 400;

/// The status of the answer to a request that is not admitted.
int refused_status(const limiter::Verdict& verdict) {
  using enum limiter::Outcome;
  switch (verdict.outcome) {
    case denied:
      return verdict.deciding->status;
    case forbidden:
      return decision::identity_denied.status;
    case identity_required:
    case token_invalid:
      return decision::identity_required.status;
    case identity_ambiguous:
    case too_many_limits:
      return decision::too_many_limits.status;
    case token_unverifiable:
    case failed:
    case unlimited:
    case allowed:
      break;
  }
  return decision::undecided.status;
}

/// Neither configuration is at fault if a token cannot be verified yet.
bool is_decided(const limiter::Verdict& verdict) {
  return verdict.outcome != limiter::Outcome::token_unverifiable &&
         verdict.outcome != limiter::Outcome::failed;
}

}  // namespace

Comparison::Comparison(const Configuration& running, const Configuration& candidate,
                       const store::MemoryStoreOptions& store)
    : sides_{Side(running, store), Side(candidate, store)}, hash_(store.seed), keys_(counted_keys) {
  for (Side& side : sides_) {
    for (const auto& policy : side.limits.policies)
      side.policies.push_back(name_index(policy.name));
    for (const auto& identity : side.limits.identities)
      side.identities.push_back(name_index(identity.name));
  }
}

std::uint32_t Comparison::name_index(const std::string& name) {
  const auto found = std::ranges::find(names_, name);
  const auto index = static_cast<std::uint32_t>(found - names_.begin());
  if (found == names_.end()) names_.push_back(name);
  return index;
}

void Comparison::arrive(const Arrival& arrival, Instant now) {
  advance(now);
  const auto [at, is_new] = pairs_.try_emplace(arrival.label);
  if (!is_new) return;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    Request& request = sides_[side].instance.receive(arrival, now_);
    at->second.halves[side].request = &request;
    if (request.state() != Request::State::waiting) note_verdict(at->second, side);
  }
}

void Comparison::end(std::uint64_t label, RealEnd real, Instant now) {
  advance(now);
  const auto found = pairs_.find(label);
  if (found == pairs_.end() || found->second.end) return;
  Pair& pair = found->second;
  pair.end = std::move(real);
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    if (pair.halves[side].request != nullptr && pair.halves[side].fate) end_half(pair, side, now_);
  }
  drop_ended(found);
  advance(now_);  // a slot that was released may be taken at once
}

void Comparison::advance(Instant now) {
  now_ = std::max(now_, now);
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    while (const auto event = sides_[side].instance.next(now_)) {
      const auto found = pairs_.find(event->request->label());
      Pair& pair = found->second;
      if (event->kind == Instance::Event::Kind::ends) {
        settle_half(pair, side, event->at);
      } else {
        note_verdict(pair, side);
        if (pair.end) end_half(pair, side, event->at);
      }
      drop_ended(found);
    }
  }
}

void Comparison::set_wall_clock_offset(Duration offset) {
  for (Side& side : sides_)
    side.instance.limiter().tokens().set_wall_clock_offset(offset);
}

Comparison::Fate Comparison::fate_of(const Request& request, const Side& side) const {
  if (request.refusal()) return {.status = request.refusal()->status};
  const limiter::Verdict& verdict = request.verdict();
  const options::Route& route = *request.decision().route();
  if (request.is_admitted())
    return {.is_admitted = true, .status = route.upstream ? 0 : route.respond.status};
  Fate fate{.status = refused_status(verdict), .is_known = is_decided(verdict)};
  name_key(fate, verdict, side);
  return fate;
}

/// Adds the key that denies.
void Comparison::name_key(Fate& fate, const limiter::Verdict& verdict, const Side& side) const {
  const auto by =
      std::ranges::find(verdict.limits, verdict.deciding, &limiter::LimitVerdict::policy);
  if (verdict.deciding == nullptr || by == verdict.limits.end()) return;
  fate.identity = by->identity;
  fate.policy = side.policies[static_cast<std::size_t>(by->policy - side.limits.policies.data())];
  fate.identity_name = side.identities[by->identity_index];
}

void Comparison::call(decision::CopiedMethod method, std::string_view message, Instant now) {
  advance(now);
  const Fate before = fate_of_call(sides_[0], method, message);
  compare(before, fate_of_call(sides_[1], method, message));
}

/// The status of a policy has no meaning for a call: it is over the limit or not.
Comparison::Fate Comparison::fate_of_call(Side& side, decision::CopiedMethod method,
                                          std::string_view message) const {
  if (!side.calls) return {.is_known = false};
  const limiter::Verdict* const verdict = side.calls->decide(method, message, now_);
  if (verdict == nullptr) return {.status = invalid_call};
  if (!is_decided(*verdict)) return {.is_known = false};
  const bool is_over = verdict->outcome == limiter::Outcome::denied ||
                       verdict->outcome == limiter::Outcome::forbidden;
  if (!is_over) return {.is_admitted = true};
  Fate fate{.status = over_limit};
  name_key(fate, *verdict, side);
  return fate;
}

/// Notes what a configuration does with a request, and compares once both are known.
void Comparison::note_verdict(Pair& pair, std::size_t side) {
  Half& half = pair.halves[side];
  half.fate = fate_of(*half.request, sides_[side]);
  const auto& [before, after] = pair.halves;
  if (before.fate && after.fate) compare(*before.fate, *after.fate);
}

void Comparison::compare(const Fate& before, const Fate& after) {
  if (!before.is_known || !after.is_known) {
    ++counts_.not_compared;
    return;
  }
  ++counts_.decisions;
  if (before.is_admitted == after.is_admitted && before.status == after.status) return;
  ++counts_.flips;
  counts_.to_denied += before.is_admitted && !after.is_admitted ? 1 : 0;
  counts_.to_admitted += !before.is_admitted && after.is_admitted ? 1 : 0;
  // An admitted request has no key, and so has one that is refused without a limit.
  const Fate& denied = after.identity ? after : before;
  if (!denied.identity) return;
  keys_.add(
      {.identity = *denied.identity, .policy = denied.policy, .is_denied = !after.is_admitted},
      hash_(*denied.identity, denied.policy), denied.identity_name);
}

/// Ends a decided request when it has been in progress as long as the real one.
void Comparison::end_half(Pair& pair, std::size_t side, Instant now) {
  Request& request = *pair.halves[side].request;
  const Instant at = request.passed_at() + pair.end->served.value_or(Duration{0});
  if (request.is_admitted() && at > now) {
    sides_[side].instance.end_at(request, at);
  } else {
    settle_half(pair, side, now);
  }
}

void Comparison::settle_half(Pair& pair, std::size_t side, Instant now) {
  Request* const request = std::exchange(pair.halves[side].request, nullptr);
  const RealEnd& real = *pair.end;
  limiter::RequestEnd how = real.how;
  if (!real.served) how = {.client_has_left = true};
  sides_[side].instance.end(*request, {.how = how, .stated = real.stated}, now);
}

void Comparison::drop_ended(Pairs::iterator pair) {
  const auto has_ended = [](const Half& half) { return half.request == nullptr; };
  if (pair->second.end && std::ranges::all_of(pair->second.halves, has_ended)) pairs_.erase(pair);
}

std::vector<FlippedKey> Comparison::top_keys(std::size_t most) const {
  auto entries = keys_.summary().entries;
  std::ranges::sort(entries, [](const auto& a, const auto& b) {
    return std::pair(b.count, a.key) < std::pair(a.count, b.key);
  });
  entries.resize(std::min(most, entries.size()));
  std::vector<FlippedKey> keys;
  for (const auto& entry : entries) {
    keys.push_back({.hash = entry.key.identity,
                    .identity = names_[entry.note],
                    .policy = names_[entry.key.policy],
                    .is_denied = entry.key.is_denied,
                    .flips = entry.count,
                    .error = entry.error});
  }
  return keys;
}

}  // namespace weir::offline
