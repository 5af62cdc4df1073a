// The units that one worker holds in Redis: for each key with units in flight, the numbers of its
// field in the hash of holds (lua/holds.lua).
//
// The numbers are absolute for a field and only grow, so a repeated or lost command does no harm:
// the script settles the difference. A command that was lost with its connection may have taken
// units that the worker does not know. Then the key gets a new field, which begins with what is
// known to be in flight; the next command creates it and ends the former one. Without memory of a
// former field, and if the worker dies, the lease of the field ends it.
//
// A field whose lease has ended is absent: its units were charged, or released if they were slots.
// The script then takes slots again that are in use; other units have outlived their lease, and
// their settlements charge only what exceeds them.
//
// A field that is absent before its lease can have ended was removed, by a reset of the key or with
// all keys. Slots are taken again, too. Other units are forgotten: nothing was charged for them, so
// their requests hold nothing and are charged their actual cost when they end.
//
// A refund is not a part of the numbers, because a total that only grows may not fall. A command
// takes all units that are to be given back. Those of a command that Redis has refused go with the
// next one; those of a lost command are not sent again, so none are given back twice. Refunds come
// before the charges of their command, in the order of the settlements: a refund first takes what
// is charged but not sent.
//
// The entries of an attributed window name who has caused them. So its commands also have the text
// of each charge that is not confirmed; the script uses the last ones, for as many units as it
// charges.
//
// Bounded: a key beyond the bound is not held. Pure; not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "base/random.hpp"
#include "base/time.hpp"
#include "redis/outcomes.hpp"
#include "rules/policy.hpp"
#include "store/store.hpp"

namespace weir::redis {

/// The lease of a field lasts so long from the latest command for its key. As in lua/holds.lua.
inline constexpr Duration hold_lease = std::chrono::seconds(10);

/// The charges of one key that are kept apart until Redis has confirmed them. If there are more,
/// the last one has no text.
inline constexpr std::size_t most_charge_texts = 32;

/// The totals of a field as a command has them: the arguments of own_from() in lua/holds.lua.
struct FieldNumbers {
  struct Former {
    std::uint64_t field = 0;
    std::int64_t charged = 0;
  };
  std::uint64_t field = 0;
  std::int64_t taken = 0;          ///< known to be taken so far
  std::int64_t sent_released = 0;  ///< what an earlier command may have released already
  std::int64_t sent_charged = 0;
  std::int64_t released = 0;
  std::int64_t charged = 0;
  boost::container::static_vector<Former, 3> formers;
};

/// The text of charges, for the entries of an attributed window.
struct ChargeText {
  std::int64_t units = 0;
  std::string attributes;  ///< as the argument of a claim has them; empty: not known any more
};

struct HeldKey {
  store::Key key;
  rules::Algorithm algorithm{};
  std::string policy_arguments;  ///< in RESP, for settlements; written by the user of the table
  std::size_t argument_count = 0;

  FieldNumbers numbers;
  /// The latest charges that Redis has not confirmed, oldest first; at most most_charge_texts.
  std::vector<ChargeText> texts;
  std::int64_t done_released = 0;  ///< confirmed by a reply
  std::int64_t done_charged = 0;
  std::int64_t outlived = 0;          ///< units in flight that the field lost with its lease
  std::int64_t forgotten = 0;         ///< units in flight that were removed
  std::int64_t written_off = 0;       ///< those so far, in this field
  std::int64_t refund = 0;            ///< units that the next command gives back
  std::int64_t composed_charged = 0;  ///< of the latest command; unanswered ones may contain it
  std::uint32_t unanswered = 0;       ///< commands
  bool is_ambiguous = false;          ///< a command was lost
  bool is_queued = false;
  Instant sent_at{};
  Instant renewed_at{};  ///< when the latest command was sent that has been answered

  std::int64_t in_flight() const { return numbers.taken - numbers.released; }
};

class HoldTable {
 public:
  /// A key in a command. Each is passed once to answered(), released_late(), not_run() or lost().
  struct Sent {
    HeldKey* held = nullptr;
    std::uint64_t field = 0;
    std::int64_t in_flight = 0;
    std::int64_t written_off = 0;
    std::int64_t released = 0;
    std::int64_t charged = 0;
    std::int64_t refund = 0;
    Instant at{};
    bool has_lease = false;  ///< the lease cannot have ended when the command runs
  };
  /// The script's reply about a key.
  struct Reply {
    std::int64_t taken = 0;  ///< units that are held from now on
    std::int64_t lost = 0;   ///< not 0: the field was absent
    std::int64_t ended = 0;  ///< units of other fields whose lease had ended
  };

  HoldTable(std::uint64_t seed, StoreCounters& counters, std::size_t most_keys = 65'536)
      : random_(seed), counters_(counters), most_keys_(most_keys) {}

  /// The key, which is added if it is absent; nullptr: there are too many.
  HeldKey* take(const store::Key& key, rules::Algorithm algorithm);
  /// A command with the key is about to be composed: from the numbers that `held` has then, until
  /// confirm_sent(). At Instant{} nothing is known about the lease.
  Sent begin(HeldKey& held, Instant now = {});
  /// The command is complete.
  void confirm_sent(const Sent& sent, Instant now);

  void answered(const Sent& sent, const Reply& reply);
  /// The request was decided otherwise meanwhile: releases what the reply has taken.
  void released_late(const Sent& sent, const Reply& reply);
  /// Redis returned an error, or the command was not sent: nothing ran.
  void not_run(const Sent& sent);
  /// Redis has refused a command, which still is to be passed to not_run(): another one, composed
  /// before that, is to have its refund.
  void keep_refund(Sent& sent);
  /// The connection has ended: it may have run.
  void lost(const Sent& sent);

  /// Ends a hold. Returns the key, whose numbers are to be sent; nullptr: there is nothing to do.
  HeldKey* settle(const store::Settlement& settlement);
  /// The key is about to be removed in Redis: forgets the units that are in flight.
  void forget(const store::Key& key, rules::Algorithm algorithm);

  /// Queues the keys whose lease is to be renewed at `now`, and those with numbers that Redis has
  /// not confirmed although no command is under way.
  void queue_due(Instant now);
  /// Removes up to `most` keys of one algorithm from the queue, and those that need no command.
  void take_queued(rules::Algorithm algorithm, std::size_t most, Instant now,
                   std::vector<HeldKey*>& out);
  bool has_queued() const { return queued_count_ > 0; }
  bool is_empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }

 private:
  struct Place {
    Hash128 identity;
    std::uint32_t policy_id = 0;
    rules::Algorithm algorithm{};
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const {
      return place.identity.low ^
             (std::uint64_t{place.policy_id} << 8 | static_cast<std::uint64_t>(place.algorithm)) *
                 0x9e3779b97f4a7c15;
    }
  };
  using Keys = std::unordered_map<Place, HeldKey, HashOfPlace>;

  static bool is_unconfirmed(const HeldKey& held);
  static bool needs_command(const HeldKey& held, Instant now);
  void queue(HeldKey& held);
  void begin_field(HeldKey& held);
  bool end_command(const Sent& sent);
  void write_off(HeldKey& held, const Sent& sent);
  void release(HeldKey& held, std::int64_t units);
  static void refund(HeldKey& held, std::int64_t units);
  static void note_text(HeldKey& held, std::int64_t units, const store::Settlement& settlement);
  void drop_if_idle(HeldKey& held);

  Random random_;
  StoreCounters& counters_;
  std::size_t most_keys_;
  Keys keys_;
  std::vector<Keys::node_type> unused_;  ///< so that adding a key allocates nothing later
  std::array<std::deque<HeldKey*>, rules::algorithm_count> queued_;
  std::size_t queued_count_ = 0;
};

}  // namespace weir::redis
