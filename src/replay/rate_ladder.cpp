#include "replay/rate_ladder.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>
#include <utility>

#include <boost/container/static_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "rules/holds.hpp"
#include "rules/rules.hpp"
#include "store/claim.hpp"

namespace weir::replay {
namespace {

/// The state of a key at one rate.
template <class State, bool has_holds>
struct Cell {
  [[no_unique_address]] State state{};
  rules::Holds holds{};
};
template <class State>
struct Cell<State, false> {
  State state{};
};

constexpr std::uint64_t bit(std::size_t rate) {
  return std::uint64_t{1} << rate;
}

struct IdentityHash {
  using is_avalanching = void;  // it is a hash
  std::size_t operator()(const Hash128& identity) const { return identity.low; }
};

template <class State, bool has_holds>
class LadderOf final : public RateLadder {
 public:
  LadderOf(std::vector<rules::Policy> rates, bool is_shadow)
      : RateLadder(rates.size()), rates_(std::move(rates)), is_shadow_(is_shadow) {}

  void decide(std::span<const LadderClaim> claims, const LadderEnd& end, Instant now) override {
    if constexpr (has_holds) end_until(now);
    if (++since_sweep_ > 2 * keys_.size() + sweep_interval) sweep(now);
    if (claims.size() == 1) {
      decide_one(claims.front(), end, now);
    } else {
      decide_together(claims, end, now);
    }
  }

  std::size_t keys() const override { return keys_.size(); }

 private:
  using KeyCell = Cell<State, has_holds>;
  struct Key {
    std::uint64_t denied = 0;            ///< by rate
    std::unique_ptr<KeyCell[]> cells{};  ///< by rate; nullptr: all are fresh
  };
  /// The end of a request that is in progress at one rate.
  struct Ending {
    Instant at{};
    std::uint64_t number = 0;
    Hash128 identity{};
    std::size_t rate = 0;
    std::int64_t held = 0;
    std::int64_t actual = 0;
    /// True if it comes after the other.
    bool operator<(const Ending& other) const {
      return std::tuple(other.at, other.number) < std::tuple(at, number);
    }
  };
  static constexpr std::size_t sweep_interval = 1024;

  Key& key_of(const Hash128& identity) {
    Key& key = keys_[identity];
    if (!key.cells) key.cells = std::make_unique<KeyCell[]>(rates_.size());
    return key;
  }

  static rules::Admission admission(const rules::Policy& policy, KeyCell& cell, Instant now,
                                    const rules::Demand& demand) {
    if constexpr (has_holds) {
      repay(policy, cell.state, cell.holds, now);
      return admit_beside(policy, cell.state, cell.holds, now, demand);
    } else {
      return admit(policy, cell.state, now, demand);
    }
  }

  void decide_one(const LadderClaim& claim, const LadderEnd& end, Instant now) {
    Key& key = key_of(claim.identity);
    std::uint64_t denied = 0;
    for (std::size_t rate = 0; rate < rates_.size(); ++rate) {
      const rules::Policy& policy = rates_[rate];
      KeyCell& cell = key.cells[rate];
      const rules::Admission admitted = admission(policy, cell, now, claim.demand);
      if (admitted.allowed) {
        take(claim, rate, cell, admitted, end, now);
      } else {
        denied |= bit(rate);
        if (policy.count_rejected) charge(policy, cell.state, now, claim.demand.cost);
      }
    }
    count(denied, key.denied);
  }

  /// As the memory store: each claim is decided as if earlier ones on its key had been charged.
  void decide_together(std::span<const LadderClaim> claims, const LadderEnd& end, Instant now) {
    boost::container::static_vector<Key*, store::claims_per_request> keys;
    boost::container::static_vector<std::uint64_t, store::claims_per_request> denied;
    for (const LadderClaim& claim : claims)
      key_of(claim.identity);
    for (const LadderClaim& claim : claims) {
      keys.push_back(&keys_.find(claim.identity)->second);  // no other key is added
      denied.push_back(0);
    }
    for (std::size_t rate = 0; rate < rates_.size(); ++rate) {
      const rules::Policy& policy = rates_[rate];
      boost::container::static_vector<rules::Admission, store::claims_per_request> admissions;
      for (std::size_t i = 0; i < claims.size(); ++i) {
        admissions.push_back(expected(claims, keys, i, rate, now));
        if (!admissions.back().allowed) denied[i] |= bit(rate);
      }
      const bool is_admitted =
          is_shadow_ || std::ranges::all_of(admissions, &rules::Admission::allowed);
      for (std::size_t i = 0; i < claims.size(); ++i) {
        KeyCell& cell = keys[i]->cells[rate];
        if (is_admitted && admissions[i].allowed) {
          take(claims[i], rate, cell, admissions[i], end, now);
        } else if (policy.count_rejected) {
          charge(policy, cell.state, now, claims[i].demand.cost);
        }
      }
    }
    for (std::size_t i = 0; i < claims.size(); ++i)
      count(denied[i], keys[i]->denied);
  }

  /// The admission of a claim after those before it on the same key.
  template <class Keys>
  rules::Admission expected(std::span<const LadderClaim> claims, const Keys& keys,
                            std::size_t claim, std::size_t rate, Instant now) {
    const rules::Policy& policy = rates_[rate];
    KeyCell& cell = keys[claim]->cells[rate];
    if (std::find(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(claim), keys[claim]) ==
        keys.begin() + static_cast<std::ptrdiff_t>(claim))
      return admission(policy, cell, now, claims[claim].demand);
    KeyCell copy = cell;
    for (std::size_t i = 0; i < claim; ++i) {
      if (keys[i] != keys[claim]) continue;
      const rules::Admission earlier = admission(policy, copy, now, claims[i].demand);
      if (!earlier.allowed) continue;
      if constexpr (has_holds) {
        if (claims[i].holds) {
          rules::hold(copy.holds, earlier.units);
          continue;
        }
      }
      charge(policy, copy.state, now, earlier.units);
    }
    return admission(policy, copy, now, claims[claim].demand);
  }

  /// Charges or holds the units of an admitted claim.
  void take(const LadderClaim& claim, std::size_t rate, KeyCell& cell,
            const rules::Admission& admitted, const LadderEnd& end, Instant now) {
    if constexpr (has_holds) {
      if (claim.holds) {
        rules::hold(cell.holds, admitted.units);
        const std::int64_t actual =
            claim.charge == nullptr
                ? 0
                : limiter::settle(*claim.charge, admitted.units, end.how, claim.stated).units;
        const Instant at = std::max(now + admitted.delay, end.at);
        if (at <= now)
          return rules::settle(rates_[rate], cell.state, cell.holds, now, admitted.units, actual);
        endings_.push({.at = at,
                       .number = ++numbers_,
                       .identity = claim.identity,
                       .rate = rate,
                       .held = admitted.units,
                       .actual = actual});
        return;
      }
    }
    charge(rates_[rate], cell.state, now, admitted.units);
  }

  void end_until(Instant now) {
    if constexpr (has_holds) {
      while (!endings_.empty() && endings_.top().at <= now) {
        const Ending& ending = endings_.top();
        KeyCell& cell = key_of(ending.identity).cells[ending.rate];
        rules::settle(rates_[ending.rate], cell.state, cell.holds, ending.at, ending.held,
                      ending.actual);
        endings_.pop();
      }
    }
  }

  bool is_whole(const KeyCell& cell, std::size_t rate, Instant now) const {
    if constexpr (has_holds) {
      return whole_beside(rates_[rate], cell.state, cell.holds) <= now;
    } else {
      return whole_at(rates_[rate], cell.state) <= now;
    }
  }

  void sweep(Instant now) {
    since_sweep_ = 0;
    for (auto& [identity, key] : keys_) {
      bool is_fresh = true;
      for (std::size_t rate = 0; key.cells && is_fresh && rate < rates_.size(); ++rate)
        is_fresh = is_whole(key.cells[rate], rate, now);
      if (is_fresh) key.cells.reset();
    }
  }

  std::vector<rules::Policy> rates_;
  bool is_shadow_;
  boost::unordered_flat_map<Hash128, Key, IdentityHash> keys_;
  std::size_t since_sweep_ = 0;
  std::priority_queue<Ending> endings_;
  std::uint64_t numbers_ = 0;
};

}  // namespace

std::unique_ptr<RateLadder> RateLadder::make(std::vector<rules::Policy> rates,
                                             const Options& options) {
  rules::Algorithm algorithm = rates.front().algorithm;
  // The same decisions, without a list of the requests.
  if (algorithm == rules::Algorithm::attributed_window) algorithm = rules::Algorithm::fixed_window;
  for (rules::Policy& policy : rates)
    policy.algorithm = algorithm;
  return rules::with_state_of(
      algorithm, [&]<class State>(const State&) -> std::unique_ptr<RateLadder> {
        if (options.has_holds)
          return std::make_unique<LadderOf<State, true>>(std::move(rates), options.is_shadow);
        return std::make_unique<LadderOf<State, false>>(std::move(rates), options.is_shadow);
      });
}

void RateLadder::count(std::uint64_t denied, std::uint64_t& seen) {
  ++requests_;
  for (std::uint64_t rest = denied; rest != 0; rest &= rest - 1)
    ++denials_[static_cast<std::size_t>(std::countr_zero(rest))].requests;
  for (std::uint64_t fresh = denied & ~seen; fresh != 0; fresh &= fresh - 1)
    ++denials_[static_cast<std::size_t>(std::countr_zero(fresh))].keys;
  seen |= denied;
}

}  // namespace weir::replay
