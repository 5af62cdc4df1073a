// The busiest and the most limited keys of one worker, of the last 30 to 60 seconds, in fixed
// memory.
//
// Keys are counted in intervals of 30 seconds that begin at the same instants on all workers. The
// present interval and the one before it count; older ones are dropped as a whole, so no count
// decays and the error bounds of base/space_saving.hpp hold. A key is counted for each route, so
// that the list can be shown by route.
//
// Belongs to one worker. Allocates nothing when it counts. Its counts are values for any thread.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ip_address.hpp"
#include "base/siphash.hpp"
#include "base/space_saving.hpp"
#include "base/time.hpp"
#include "store/key_hash.hpp"

namespace weir::limiter {

/// An event of a key that is counted.
enum class KeyEvent : std::uint8_t {
  request,      ///< a limit of this key decided a request
  denial,       ///< this key denied a request, and its policy is enforced
  early_retry,  ///< a request came before the Retry-After that the key was given
};
inline constexpr std::size_t key_event_count = 3;

/// The events of a decided request beside the request itself.
struct KeyEvents {
  bool is_denied = false;
  bool is_early_retry = false;
};

/// The ids of names, which stay the same when a reload moves a name: by index in the configuration.
/// Empty: the index is the id.
struct NameIds {
  std::vector<std::uint32_t> routes{};
  std::vector<std::uint32_t> identities{};

  std::uint32_t route(std::size_t index) const { return id(routes, index); }
  std::uint32_t identity(std::size_t index) const { return id(identities, index); }

 private:
  static std::uint32_t id(const std::vector<std::uint32_t>& ids, std::size_t index) {
    return index < ids.size() ? ids[index] : static_cast<std::uint32_t>(index);
  }
};

/// A key on one route.
struct RouteKey {
  Hash128 identity;             ///< keyed hash
  std::uint32_t policy_id = 0;  ///< as the store has it
  std::uint32_t route_id = 0;   ///< NameIds
  friend auto operator<=>(const RouteKey&, const RouteKey&) = default;
};

/// A request of the key.
struct KeySample {
  IpAddress client;
  std::uint32_t identity_id = 0;  ///< NameIds
};

using KeyCounts = FrequentKeys<RouteKey, KeySample>;

/// The counts of one worker.
struct TopCounts {
  Instant since{};  ///< no event before it is counted
  /// By event; of disjoint times, to be merged.
  std::array<std::vector<KeyCounts>, key_event_count> parts{};
};

class alignas(64) TopKeys {
 public:
  /// Keys with more than 1/1024 of the events of a worker in an interval are never missed.
  static constexpr std::size_t capacity = 1024;
  static constexpr Duration interval = std::chrono::seconds(30);

  /// `seed`: random in production, so that clients cannot choose keys that collide.
  explicit TopKeys(std::uint64_t seed);

  /// Counts a request of the key.
  void count(const RouteKey& key, KeyEvents events, const KeySample& sample, Instant now) {
    if (now >= ends_at_) begin_interval(now);
    // Routes that share a policy differ in all bits.
    constexpr std::uint32_t odd = 0x9e3779b9;
    const std::uint64_t hash = hash_(key.identity, key.policy_id + key.route_id * odd);
    present_[index(KeyEvent::request)].add(key, hash, sample);
    if (events.is_denied) present_[index(KeyEvent::denial)].add(key, hash, sample);
    if (events.is_early_retry) present_[index(KeyEvent::early_retry)].add(key, hash, sample);
  }

  /// The counts of the interval of `now` and of the one before it.
  TopCounts read(Instant now);

 private:
  using Sketches = std::array<SpaceSaving<RouteKey, KeySample>, key_event_count>;

  static constexpr std::size_t index(KeyEvent event) { return static_cast<std::size_t>(event); }
  static Sketches sketches();
  void begin_interval(Instant now);

  store::KeyHash hash_;
  Sketches present_;
  Sketches previous_;
  Instant begun_at_ = Instant::max();  ///< the first interval; max: none yet
  Instant previous_from_{};
  Instant ends_at_{};  ///< the present interval
};

}  // namespace weir::limiter
