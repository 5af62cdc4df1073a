// Decides the requests of one policy at several rates side by side.
//
// The policy decides alone, as if no other limit denied a request. Each rate has a state of its own
// for each key, and the rules of the policy's algorithm decide with it, as in the memory store: all
// claims of a request together, units are held until it ends. The states of a key are dropped once
// they all equal fresh ones. Pure: time is an argument. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/charge.hpp"
#include "rules/decision.hpp"
#include "rules/policy.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::replay {

/// A claim of a request on the policy.
struct LadderClaim {
  Hash128 identity{};
  rules::Demand demand{};
  /// The units are held until the end of the request. Then they are charged as `charge` states;
  /// nullptr: nothing is charged.
  bool holds = false;
  const limiter::Charge* charge = nullptr;
  std::optional<usage::Usage> stated{};  ///< by its response
};

/// The end of a request that is admitted.
struct LadderEnd {
  Instant at{};  ///< or when it passes, if that is later
  limiter::RequestEnd how{};
};

class RateLadder {
 public:
  /// The most rates of a ladder.
  static constexpr std::size_t most_rates = 64;

  struct Options {
    bool is_shadow = false;  ///< its denials deny no request
    bool has_holds = false;  ///< a claim may hold
  };
  struct Denials {
    std::uint64_t requests = 0;
    std::uint64_t keys = 0;  ///< with a request that was denied
    friend bool operator==(const Denials&, const Denials&) = default;
  };

  /// `rates`: the policy at each rate.
  static std::unique_ptr<RateLadder> make(std::vector<rules::Policy> rates, const Options& options);
  RateLadder(const RateLadder&) = delete;
  RateLadder& operator=(const RateLadder&) = delete;
  virtual ~RateLadder() = default;

  /// Decides the claims of one request, at least one. `now` is not before that of an earlier call.
  virtual void decide(std::span<const LadderClaim> claims, const LadderEnd& end, Instant now) = 0;

  std::uint64_t requests() const { return requests_; }
  virtual std::size_t keys() const = 0;
  const Denials& denials(std::size_t rate) const { return denials_[rate]; }

 protected:
  explicit RateLadder(std::size_t rates) : denials_(rates) {}
  /// Counts a request of a key. Bit i of `denied`: the i-th rate denied it. `seen`: those that have
  /// denied the key before.
  void count(std::uint64_t denied, std::uint64_t& seen);

 private:
  std::uint64_t requests_ = 0;
  std::vector<Denials> denials_;
};

}  // namespace weir::replay
