#include "store/memory_store.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

#include "store/asked.hpp"
#include "store/held_key.hpp"
#include "store/held_shards.hpp"
#include "store/looks.hpp"

namespace weir::store {
namespace {

// Small enough that growing a shard, which blocks its users, takes tens of microseconds.
constexpr std::size_t keys_per_shard = 4096;

using Questions = boost::container::static_vector<Asked, claims_per_request>;

/// Appends `asked` to the chain of its key, if an earlier claim began one.
void join(Questions& questions, Asked& asked) {
  for (Asked* earlier = questions.data(); earlier != &asked; ++earlier) {
    if (earlier->hash != asked.hash || earlier->next) continue;
    earlier->next = &asked;
    asked.leads = false;
    return;
  }
}

/// Looks up the override of a claim.
void apply(const OverrideTable::Reading& overrides, Asked& asked, Instant now) {
  if (overrides.has_any()) asked.override_in_force = overrides.in_force(*asked.claim, now);
  if (asked.override_in_force.numbers != nullptr) asked.policy = asked.override_in_force.numbers;
  if (!needs_no_state(asked)) return;
  asked.admission = {.allowed = asked.override_in_force.effect != rules::OverrideEffect::denied};
}

/// Decides the claims with the state of their keys. `is_special`: claims may be exempt, hold, or
/// have an override; otherwise nothing of this is tested.
template <bool is_special>
bool decide_with_states(Questions& questions, Instant now) {
  const auto takes_part = [](const Asked& asked) {
    return asked.leads && !(is_special && needs_no_state(asked));
  };
  for (Asked& asked : questions) {
    if (!takes_part(asked)) continue;
    asked.slot = asked.shard->find(asked.hash);
    is_special&& holds_any(asked) ? ask_beside(asked, now) : ask(asked, now);
  }
  const bool admitted = std::ranges::all_of(
      questions, [](const Asked& asked) { return asked.admission.allowed || asked.claim->shadow; });
  // Absent keys are settled last: inserting one moves slots that other claims point to.
  for (const bool absent : {false, true}) {
    for (Asked& asked : questions) {
      if (!takes_part(asked) || (asked.slot == nullptr) != absent) continue;
      is_special&& holds_any(asked) ? settle_beside(asked, now, admitted)
                                    : store::settle(asked, now, admitted);
    }
  }
  return admitted;
}

}  // namespace

MemoryStore::MemoryStore(const MemoryStoreOptions& options) : key_hash_(options.seed) {
  const std::size_t count =
      std::bit_ceil(std::max<std::size_t>(options.max_keys / keys_per_shard, 1));
  const std::size_t rest = options.max_keys % count;
  for (std::size_t i = 0; i < count; ++i) {
    shards_.push_back(std::make_unique<Shard>(options.max_keys / count + (i < rest ? 1 : 0)));
  }
}

MemoryStore::~MemoryStore() = default;

bool MemoryStore::decide(std::span<const Claim> claims, Instant now,
                         std::span<rules::Decision> decisions) {
  assert(claims.size() <= claims_per_request && decisions.size() >= claims.size());
  Questions questions;
  bool has_special = false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    has_special = has_special || is_special(claims[i]);
    const std::uint64_t hash = key_hash_(claims[i].identity, claims[i].policy_id);
    Asked& asked = questions.emplace_back();
    asked.claim = &claims[i];
    asked.policy = claims[i].policy;
    asked.decision = &decisions[i];
    asked.shard = shards_[hash % shards_.size()].get();
    asked.hash = hash;
    join(questions, asked);
  }

  const OverrideTable::Reading overrides(overrides_, now);
  HeldShards held(questions, [](const Asked& asked) { return asked.shard; });
  now = held.advance_to(now);
  if (!has_special && !overrides.has_any()) return decide_with_states<false>(questions, now);
  for (Asked& asked : questions)
    apply(overrides, asked, now);
  const bool admitted = decide_with_states<true>(questions, now);
  std::ranges::for_each(questions, conclude_override);
  return admitted;
}

void MemoryStore::set_max_keys(std::size_t max_keys) {
  const std::size_t rest = max_keys % shards_.size();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const std::lock_guard lock(shards_[i]->mutex);
    shards_[i]->set_max_keys(max_keys / shards_.size() + (i < rest ? 1 : 0));
  }
}

std::optional<Result> MemoryStore::acquire(Acquisition& acquisition, Completion&, Instant now) {
  const auto claims = acquisition.claims;
  return Result{.admitted = decide(claims, now, acquisition.decisions),
                .decided = first_claims(claims.size())};
}

std::optional<Result> MemoryStore::peek(Acquisition& acquisition, Completion&, Instant now) {
  const Looks looks = looks_of(acquisition.claims);
  const Result result{.admitted = decide({looks.data(), looks.size()}, now, acquisition.decisions),
                      .decided = first_claims(looks.size())};
  for (std::size_t i = 0; i < looks.size() && acquisition.shows_held; ++i)
    acquisition.decisions[i].held_by_others = held_under(looks[i]);
  return result;
}

std::int64_t MemoryStore::held_under(const Claim& claim) {
  const std::uint64_t hash = key_hash_(claim.identity, claim.policy_id);
  Shard& shard = *shards_[hash % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  Slot* const slot = shard.find(hash);
  const bool has_state = slot != nullptr && slot->kind() == claim.policy->algorithm;
  return has_state ? held_in(*slot) : 0;
}

EntryReport MemoryStore::entries(const Key& key, const rules::Policy& policy, Instant now) {
  const std::uint64_t hash = key_hash_(key.identity, key.policy_id);
  Shard& shard = *shards_[hash % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  Slot* const slot = shard.find(hash);
  if (slot == nullptr || slot->kind() != rules::Algorithm::attributed_window) return {};
  using State = rules::AttributedWindowState;
  const State& state =
      slot->has_beside() ? state_in<Beside<State>>(*slot).state : state_in<State>(*slot);
  if (whole_at(policy, state) <= std::max(now, shard.latest())) return {};
  const auto& all = state.entries;
  const std::size_t shown = std::min(all.size(), most_entries_shown);
  return {.entries = {all.end() - static_cast<std::ptrdiff_t>(shown), all.end()},
          .is_complete = shown == all.size()};
}

std::optional<Result> MemoryStore::forget(const Key& key, Completion&, Instant) {
  forget(key);
  return Result{};
}

void MemoryStore::settle(std::span<const Settlement> settlements, Instant now) {
  for (const Settlement& settlement : settlements) {
    if (!end(settlement, now)) settlements_lost_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool MemoryStore::end(const Settlement& settlement, Instant now) try {
  if (settlement.policy == nullptr) return false;
  const Key& key = settlement.key;
  HoldEnd hold{.policy = settlement.policy,
               .hash = key_hash_(key.identity, key.policy_id),
               .held = settlement.held,
               .actual = settlement.actual,
               .attributes = settlement.attributes};
  Claim claim;
  claim.policy = settlement.policy;
  claim.identity = key.identity;
  claim.policy_id = key.policy_id;
  const OverrideTable::Reading overrides(overrides_, now);
  Shard& shard = *shards_[hold.hash % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  shard.advance_to(now);
  if (overrides.has_any()) {
    const OverrideInForce in_force = overrides.in_force(claim, shard.latest());
    if (in_force.numbers != nullptr) hold.policy = in_force.numbers;
    if (in_force.effect == rules::OverrideEffect::unlimited) hold.actual = 0;
  }
  return end_hold(shard, hold);
} catch (const std::bad_alloc&) {
  return false;
}

void MemoryStore::forget(const Key& key) {
  const std::uint64_t hash = key_hash_(key.identity, key.policy_id);
  Shard& shard = *shards_[hash % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  shard.erase(hash);
}

namespace {

template <class Count>
auto sum_over(const auto& shards, Count count) {
  std::uint64_t sum = 0;
  for (const auto& shard : shards) {
    const std::lock_guard lock(shard->mutex);
    sum += static_cast<std::uint64_t>(count(*shard));
  }
  return sum;
}

}  // namespace

std::size_t MemoryStore::keys() const {
  return sum_over(shards_, [](const Shard& shard) { return shard.keys(); });
}
std::uint64_t MemoryStore::evictions() const {
  return sum_over(shards_, [](const Shard& shard) { return shard.evictions(); });
}
std::uint64_t MemoryStore::holds() const {
  return sum_over(shards_, [](const Shard& shard) { return shard.held(); });
}
std::uint64_t MemoryStore::settlements_lost() const {
  return settlements_lost_.load(std::memory_order_relaxed);
}
std::uint64_t MemoryStore::denied_evictions() const {
  return sum_over(shards_, [](const Shard& shard) { return shard.denied_evictions(); });
}

}  // namespace weir::store
