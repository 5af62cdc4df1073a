// A search for the master: which sentinel to ask next, for how long, and why none has returned it.
//
// The sentinels are asked one after the other until one returns an address, first the one that did
// so last, unless no connection to its master was made: it may be out of date. They share the time
// of the search with the connection to the master, which gets as much as a sentinel. This follows
// the guidelines for Sentinel clients
// (https://redis.io/docs/latest/develop/reference/sentinel-clients/). Pure; not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/redis.hpp"

struct redisReply;

namespace weir::redis {

/// The reply to SENTINEL GET-MASTER-ADDR-BY-NAME.
struct MasterReply {
  enum class Kind : std::uint8_t { address, unknown, error, other } kind = Kind::other;
  options::RedisServer master{};  ///< of `address`
  std::string_view error{};       ///< of `error`
};
MasterReply master_in(const redisReply& reply);

/// The master that a message of the channel +switch-master carries: `NAME OLD-IP OLD-PORT IP PORT`.
/// Nothing if it is about another name.
std::optional<options::RedisServer> switched_master(std::string_view message,
                                                    std::string_view name);

class SentinelSearch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// A sentinel to ask.
  struct Turn {
    std::size_t index;  ///< into options::Redis::servers
    Time until;         ///< when the next one is to be asked
  };

  /// `options` must outlive this.
  explicit SentinelSearch(const options::Redis& options);

  void begin(Time deadline);
  /// Nothing: every sentinel was asked, and failure() has the reason.
  std::optional<Turn> next(Time now);
  /// The last sentinel could not be asked.
  void on_unreachable(std::string_view why);
  /// The last sentinel replied. Returns true if that ends the search.
  bool on_reply(const MasterReply& reply, Time now);
  /// The connection to the master that the search has returned is ready.
  void on_ready() { is_unconfirmed_ = false; }
  /// Another master has replaced this one. A sentinel that has not been updated yet, or is cut off
  /// by a network partition, still returns it; the search skips such replies for a while. After the
  /// time in which sentinels update each other, the majority of the configured ones ends that: the
  /// master has come back.
  void on_replaced(options::RedisServer master, Time now);
  bool is_replaced(const options::RedisServer& server, Time now) const;

  /// Why the search has failed. Never contains the password.
  std::string failure() const;

 private:
  const options::RedisServer& last() const { return options_.servers[order_[next_ - 1]]; }

  const options::Redis& options_;
  std::vector<std::size_t> order_;  ///< of the sentinels
  std::size_t next_ = 0;            ///< in order_
  Time deadline_{};
  std::optional<options::RedisServer> replaced_;  ///< skipped for a while from replaced_at_
  Time replaced_at_{};
  std::size_t returning_replaced_ = 0;  ///< sentinels that have returned it in this search
  bool is_unconfirmed_ = false;         ///< a master was returned, and has not been ready
  bool is_unknown_ = false;             ///< a sentinel has no master of the name
  std::string error_;                   ///< the error that a sentinel has returned
  std::string unreachable_;             ///< a part for each sentinel
};

}  // namespace weir::redis
