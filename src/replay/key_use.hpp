// Counts what the limits of a configuration decide: by policy and route, and by key.
//
// Keeps about 200 bytes for each key. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ip_address.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/options.hpp"
#include "limiter/verdict.hpp"
#include "options/proxy.hpp"
#include "replay/arrival.hpp"
#include "replay/report.hpp"

namespace weir::replay {

class KeyUse {
 public:
  /// The options outlive this.
  KeyUse(const options::Proxy& proxy, const limiter::Options& limits);

  /// A request that was decided for this route.
  struct Decided {
    std::size_t route = 0;
    IpAddress client{};
    Instant at{};
    /// The hashes of Weir's own log, which are shown instead of those of the replay.
    std::span<const LoggedIdentity> logged{};
  };
  void count(const limiter::Verdict& verdict, const Decided& request);

  /// Adds the counts to a report, with this many keys.
  void add_to(Report& report, std::size_t most_keys) const;
  /// Adds the addresses of keys, and replaces their hashes by those of Weir's own log.
  void name_keys(std::vector<FlippedKeyReport>& keys) const;

 private:
  struct Key {
    Hash128 identity;
    std::uint32_t policy = 0;
    std::uint32_t identity_index = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    using is_avalanching = void;  // its identity is a hash
    std::size_t operator()(const Key& key) const { return key.identity.low ^ key.policy; }
  };
  struct Counts {
    Use use;
    std::int64_t window = 0;  ///< its number, since 1970
    std::int64_t in_window = 0;
    std::int64_t peak = 0;
    Instant first_denied_at{};
    IpAddress client{};
    std::optional<Hash128> logged{};
  };

  std::optional<std::string> address_of(const Key& key, const Counts& counts) const;
  Use& use_of(std::size_t policy, std::size_t route);
  KeyReport report_of(const Key& key, const Counts& counts) const;

  const options::Proxy& proxy_;
  const limiter::Options& limits_;
  std::vector<std::size_t> numbers_;  ///< by route: the first one with its name
  std::vector<Use> uses_;             ///< by policy, then by that number
  boost::unordered_flat_map<Key, Counts, KeyHash> keys_;
};

}  // namespace weir::replay
