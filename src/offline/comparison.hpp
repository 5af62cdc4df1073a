// Decides the same requests under two configurations and counts those that they decide differently.
//
// Each configuration has an instance of its own, with a store that starts empty, so only the
// configurations differ. The caller passes requests in the order of their arrival, and their ends.
// A decision flips if one configuration admits the request and the other does not, or if the status
// of Weir's answer differs. Calls of the rate limit service are compared by their overall code. The
// keys whose decisions flip are counted by Space-Saving, with 1,024 counters.
//
// Pure: the time is an argument. Not thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/siphash.hpp"
#include "base/space_saving.hpp"
#include "base/time.hpp"
#include "limiter/charge.hpp"
#include "limiter/options.hpp"
#include "offline/instance.hpp"
#include "offline/request.hpp"
#include "offline/service_calls.hpp"
#include "options/proxy.hpp"
#include "options/rate_limit_service.hpp"
#include "store/key_hash.hpp"

namespace weir::offline {

/// How a request ended that one of the configurations has really decided.
struct RealEnd {
  limiter::RequestEnd how{};
  /// From its admission to its end; empty: it was not admitted, so it has no response. Then a
  /// configuration that admits it charges what it holds, as if the client had left.
  std::optional<Duration> served{};
  std::vector<StatedCost> stated{};  ///< by its response
};

struct ComparisonCounts {
  std::uint64_t decisions = 0;    ///< compared
  std::uint64_t flips = 0;        ///< of them
  std::uint64_t to_denied = 0;    ///< of the flips: only the candidate refuses the request
  std::uint64_t to_admitted = 0;  ///< likewise: only the candidate admits it
  std::uint64_t not_compared =
      0;  ///< one of the two could not decide: no keys for its token, no service
};

/// A key whose decisions flip in one direction.
struct FlippedKey {
  Hash128 hash;          ///< keyed, as in the log
  std::string identity;  ///< its name
  std::string policy;
  bool is_denied = false;   ///< by the candidate
  std::uint64_t flips = 0;  ///< at most, and at least `flips - error`
  std::uint64_t error = 0;
};

class Comparison {
 public:
  struct Configuration {
    const options::Proxy& proxy;
    const limiter::Options& limits;
    const options::RateLimitService* service = nullptr;  ///< nullptr: it has none
  };
  /// Both configurations outlive it. `store`: the options of each of the two stores.
  Comparison(const Configuration& running, const Configuration& candidate,
             const store::MemoryStoreOptions& store);

  /// Receives a request at `now`, or at the last instant that was passed if that is later. Its
  /// label identifies it until its end.
  void arrive(const Arrival& arrival, Instant now);
  /// Ends the request with this label; does nothing if there is none.
  void end(std::uint64_t label, RealEnd real, Instant now);
  /// Receives a call of the rate limit service at `now`, or likewise.
  void call(decision::CopiedMethod method, std::string_view message, Instant now);
  /// Takes the events until `now`.
  void advance(Instant now);
  /// The wall clock less the clock of the instants; for the times in tokens.
  void set_wall_clock_offset(Duration offset);

  const ComparisonCounts& counts() const { return counts_; }
  /// Requests that have not ended under both configurations.
  std::size_t in_progress() const { return pairs_.size(); }
  /// The keys with most flips, by falling count.
  std::vector<FlippedKey> top_keys(std::size_t most) const;

 private:
  struct KeyId {
    Hash128 identity;
    std::uint32_t policy = 0;  ///< index into names_
    bool is_denied = false;
    friend auto operator<=>(const KeyId&, const KeyId&) = default;
  };
  /// The treatment of a request by one configuration.
  struct Fate {
    bool is_admitted = false;
    int status = 0;  ///< of Weir's answer; 0: it is forwarded
    bool is_known = true;
    std::optional<Hash128> identity{};  ///< of the key that denies it
    std::uint32_t policy = 0;           ///< likewise, index into names_
    std::uint32_t identity_name = 0;    ///< likewise
  };
  struct Half {
    Request* request = nullptr;  ///< nullptr: it has ended
    std::optional<Fate> fate{};
  };
  struct Pair {
    std::array<Half, 2> halves{};
    std::optional<RealEnd> end{};
  };
  using Pairs = std::unordered_map<std::uint64_t, Pair>;
  struct Side {
    Side(const Configuration& configuration, const store::MemoryStoreOptions& store)
        : limits(configuration.limits), instance(configuration.proxy, limits, store) {
      if (configuration.service != nullptr)
        calls.emplace(*configuration.service, configuration.proxy, limits, instance.limiter());
    }
    const limiter::Options& limits;
    Instance instance;
    std::optional<ServiceCalls> calls{};      ///< empty: it has no rate limit service
    std::vector<std::uint32_t> policies{};    ///< by index: into names_
    std::vector<std::uint32_t> identities{};  ///< likewise
  };

  std::uint32_t name_index(const std::string& name);
  Fate fate_of(const Request& request, const Side& side) const;
  void name_key(Fate& fate, const limiter::Verdict& verdict, const Side& side) const;
  Fate fate_of_call(Side& side, decision::CopiedMethod method, std::string_view message) const;
  void note_verdict(Pair& pair, std::size_t side);
  void compare(const Fate& before, const Fate& after);
  void end_half(Pair& pair, std::size_t side, Instant now);
  void settle_half(Pair& pair, std::size_t side, Instant now);
  void drop_ended(Pairs::iterator pair);

  std::vector<std::string> names_;
  std::array<Side, 2> sides_;  ///< the running configuration, the candidate
  Pairs pairs_;
  ComparisonCounts counts_;
  store::KeyHash hash_;
  SpaceSaving<KeyId, std::uint32_t> keys_;  ///< with the name of the identity
  Instant now_{};
};

}  // namespace weir::offline
