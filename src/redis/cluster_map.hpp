// Decides to which servers of a Redis Cluster connections are kept, which one has a slot, and when
// one is asked for the slots again. Events and the time go in, actions come out. Pure: no socket,
// no timer. `redis::Cluster` carries the actions out.
//
// Connections are kept to the servers of the configuration until one has returned the slots, then
// to the masters that have slots. The slots are read
// - first of all, from the first server that is connected;
// - after MOVED, CLUSTERDOWN or the loss of a master, and then again, with growing pauses, until
//   each slot has a master that is connected. One server is asked at a time, another one each time,
//   because the slots that a server reports may be out of date.
// MOVED changes the slot at once. A server that is only importing slots, to which ASK refers, is
// kept for a while. If no server is connected, those of the configuration are tried again, too. Not
// thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "options/redis.hpp"
#include "redis/hash_slot.hpp"
#include "redis/slot_ranges.hpp"

namespace weir::redis {

class ClusterMap {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Servers = std::vector<std::size_t>;

  /// Reads of the slots follow each other after this pause, which doubles to the longest.
  static constexpr Duration first_pause = std::chrono::milliseconds(100);
  static constexpr Duration longest_pause = std::chrono::seconds(1);
  /// A server without slots to which ASK has referred is kept for this time.
  static constexpr Duration kept_for = std::chrono::seconds(10);

  /// The caller carries these out in the order of the members. Servers are indices, which are used
  /// again after they were closed.
  struct Actions {
    Servers close{};  ///< end the connection; no event of it follows
    Servers open{};   ///< keep a connection: on_ready() and on_failure() follow
    /// Send CLUSTER SLOTS: on_slots() follows, or on_no_slots().
    std::optional<std::size_t> ask{};
    /// Call on_deadline() then; replaces an earlier value.
    std::optional<Time> wake_at{};
  };

  /// `servers`: of the configuration, at least one. `timeout`: of a read of the slots.
  ClusterMap(std::vector<options::RedisServer> servers, Duration timeout);

  [[nodiscard]] Actions start(Time now);
  /// A server is connected.
  [[nodiscard]] Actions on_ready(std::size_t server, Time now);
  /// A connection has ended, or could not be made.
  [[nodiscard]] Actions on_failure(std::size_t server, Time now);
  [[nodiscard]] Actions on_slots(const SlotRanges& ranges, Time now);
  /// The server that was asked returned an error, or its connection has ended.
  [[nodiscard]] Actions on_no_slots(Time now);
  [[nodiscard]] Actions on_refusal(const SlotRefusal& refusal, Time now);
  [[nodiscard]] Actions on_deadline(Time now);

  /// The server of a slot; nothing if none is known.
  std::optional<std::size_t> owner(HashSlot slot) const {
    if (owners_[slot] == none) return std::nullopt;
    return owners_[slot];
  }
  /// The open server with this address.
  std::optional<std::size_t> find(const options::RedisServer& address) const;
  /// The address of an open server.
  const options::RedisServer& address(std::size_t server) const { return servers_[server].address; }
  /// Indices are below it.
  std::size_t size() const { return servers_.size(); }
  bool is_open(std::size_t server) const { return servers_[server].is_open; }
  bool is_ready(std::size_t server) const { return servers_[server].is_ready; }
  /// The slots that it has.
  std::size_t slots(std::size_t server) const { return servers_[server].slots; }
  /// Each slot has a master that is connected.
  bool is_whole() const;
  /// Slots that have no master that is connected.
  std::size_t missing_slots() const;
  /// Which server has which slots: in the order of the slots, neighbours of one server are one
  /// range.
  SlotRanges ranges() const;
  /// The first slot of each server that has any.
  std::vector<HashSlot> one_slot_per_server() const;

 private:
  static constexpr std::uint16_t none = 0xffff;

  struct Server {
    options::RedisServer address;
    bool is_open = false;
    bool is_ready = false;
    std::size_t slots = 0;
    Time keep_until{};  ///< although it has no slots
  };

  std::size_t open(const options::RedisServer& address, Actions& actions);
  void open_configured(Actions& actions);
  void close_unused(Time now, Actions& actions);
  void give(HashSlot slot, std::size_t server);
  void want(Time now);
  Actions finish(Actions actions, Time now);
  std::optional<std::size_t> next_to_ask() const;

  const std::vector<options::RedisServer> configured_;
  const Duration timeout_;
  std::vector<Server> servers_;
  std::array<std::uint16_t, hash_slots> owners_;
  bool is_wanted_ = true;             ///< slots are to be read, though each has a master
  std::optional<std::size_t> asked_;  ///< whose reply is awaited
  std::size_t last_asked_ = 0;
  Time ask_until_{};   ///< while asked
  Time not_before_{};  ///< the next read
  Duration pause_ = first_pause;
};

}  // namespace weir::redis
