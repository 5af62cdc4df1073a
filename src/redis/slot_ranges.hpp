// Reads the servers of the hash slots in a reply to CLUSTER SLOTS, and the reason why a node
// refused a command because of its slot (Redis Cluster specification, "MOVED Redirection", "ASK
// redirection" and "Multi-key operations during resharding").
//
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "options/redis.hpp"
#include "redis/hash_slot.hpp"

struct redisReply;

namespace weir::redis {

struct SlotRange {
  HashSlot first = 0;
  HashSlot last = 0;  ///< inclusive
  options::RedisServer master;
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};
using SlotRanges = std::vector<SlotRange>;

/// The ranges in a reply to CLUSTER SLOTS. `asked`: the server that replied, which is meant by a
/// master without a host. A master whose host is unknown ("?") has its IP address if the reply has
/// it, else its range is left out. Nothing if the reply has another form.
std::optional<SlotRanges> slot_ranges_in(const redisReply& reply,
                                         const options::RedisServer& asked);

/// Why a node refused a command because of its slot.
struct SlotRefusal {
  enum class Kind : std::uint8_t {
    moved,      ///< `server` has the slot from now on
    ask,        ///< `server` is importing the slot and has this key: ask there once, after ASKING
    try_again,  ///< the keys are at two nodes while the slot moves
    elsewhere,  ///< a node has the slot or is importing it, and its address is unknown
    down,       ///< the cluster does not serve the slot
  } kind = Kind::down;
  HashSlot slot = 0;
  options::RedisServer server;
  friend bool operator==(const SlotRefusal&, const SlotRefusal&) = default;
};

/// The meaning of an error reply of the server `from`; nothing if it is another error, or
/// malformed. An address without a host means the host of `from`.
std::optional<SlotRefusal> slot_refusal_in(std::string_view text, const options::RedisServer& from);

}  // namespace weir::redis
