// The list of top keys: the counts of all workers, merged, as values with names. Pure; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/top_keys.hpp"

namespace weir::app {

using limiter::key_event_count;
using limiter::KeyEvent;

/// The names of the events, in their order, as parameters and members have them.
inline constexpr std::array<std::string_view, key_event_count> key_event_names{"requests", "denied",
                                                                               "early_retries"};

/// The parameters of /v1/top.
inline constexpr std::array<std::string_view, 4> top_parameters{"by", "n", "policy", "route"};

struct TopQuery {
  KeyEvent by = KeyEvent::request;
  std::size_t most = 20;                     ///< keys in the list
  std::optional<std::uint32_t> policy_id{};  ///< only keys of this policy
  std::optional<std::uint32_t> route_id{};   ///< only keys on this route
};

/// The names of the process by id.
struct TopNames {
  const std::vector<std::string>& policies;
  const std::vector<std::string>& routes;
  const std::vector<std::string>& identities;
};

/// A number of events: at most `most`, and at least `most - error`.
struct TopCount {
  std::uint64_t most = 0;
  std::uint64_t error = 0;
};

/// A key on one route.
struct TopKey {
  Hash128 hash;          ///< keyed, as in the log
  std::string identity;  ///< its name
  IpAddress client;      ///< of one of its requests
  std::string policy;
  std::string route;
  std::array<TopCount, key_event_count> counts{};
};

struct TopList {
  KeyEvent by = KeyEvent::request;
  Duration window{0};                                  ///< the time that is counted
  std::array<std::uint64_t, key_event_count> total{};  ///< events of all keys
  /// The most events that a key has which is missing for lack of memory.
  std::array<std::uint64_t, key_event_count> unseen{};
  std::vector<TopKey> keys{};  ///< by falling count of `by`; without those that have none
};

/// Merges the counts of all workers. `now`: when they were read.
TopList make_top_list(std::vector<limiter::TopCounts> workers, const TopQuery& query,
                      const TopNames& names, Instant now);

/// The names that a query can have: those of the running configuration.
struct TopContext {
  std::vector<std::string_view> policies;
  std::vector<std::string_view> routes;
  const TopNames& names;
};

/// Reads the query of /v1/top. A problem states which parameter is wrong, and what to write.
Result<TopQuery> read_top_query(std::string_view query, const TopContext& context);

/// The list as JSON.
std::string json_of(const TopList& list);

}  // namespace weir::app
