// The holds of one worker in Redis, on all of its nodes: what its questions hold, and the commands
// that settle and renew.
//
// Settlements of one pass of the loop go in one command for each algorithm and 64 keys, or, in a
// cluster, in one for each key. They wait while their node has no connection. Leases are renewed by
// a timer, which runs while units are held.
// Used on the loop only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "base/clock.hpp"
#include "base/time.hpp"
#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "redis/catalog.hpp"
#include "redis/connection.hpp"
#include "redis/hold_table.hpp"
#include "redis/node_lookup.hpp"
#include "redis/question_command.hpp"
#include "redis/script_loader.hpp"
#include "store/claim.hpp"
#include "store/reused.hpp"

namespace weir::redis {

/// The keys of a question: one for each claim, without a key if the claim holds nothing. Empty: the
/// question is not decided beside holds.
using QuestionHolds = boost::container::static_vector<HoldTable::Sent, store::claims_per_request>;
using HoldReplies = boost::container::static_vector<HoldTable::Reply, store::claims_per_request>;

class Holds {
 public:
  struct Dependencies {
    asio::io_context& io;
    NodeLookup& nodes;
    Catalog& catalog;
    const MonotonicClock& clock;
    StoreCounters& counters;
    std::uint64_t seed;  ///< of the fields; random in production
    std::size_t keys_per_call =
        64;  ///< at most 64; 1 in a cluster, where keys have different slots
  };
  /// The constructor uses only `io`, `seed` and `counters`. All of it outlives this.
  explicit Holds(const Dependencies& with);
  Holds(const Holds&) = delete;
  Holds& operator=(const Holds&) = delete;

  /// Composes a question, and returns the index of its script; nothing if too many keys are held.
  /// If the question is not sent then, not_run() follows.
  std::optional<std::size_t> compose(std::string& command, QuestionHolds& holds,
                                     std::span<const store::Claim> claims,
                                     std::optional<Instant> script_time, ScriptLoader& loader);
  void on_sent(const QuestionHolds& holds) noexcept;
  /// The outcome of a question.
  store::Result result_of(QuestionHolds& holds, const redisReply& reply,
                          const store::Acquisition& acquisition) noexcept;
  void on_late_reply(QuestionHolds& holds, const redisReply& reply) noexcept;
  void not_run(QuestionHolds& holds) noexcept;
  void on_loss(QuestionHolds& holds) noexcept;

  /// `now`: for scripts of Clock::argument.
  void settle(std::span<const store::Settlement> settlements, Instant now) noexcept;
  void forget(const store::Key& key) noexcept;
  /// Whether one of the keys was forgotten after the question was composed: its numbers are those
  /// of a field that no longer exists.
  static bool are_forgotten(const QuestionHolds& holds);
  /// A node is ready: sends what waited for it.
  void on_ready() noexcept;
  /// True while settlements wait to be sent or for their reply.
  bool is_settling() const { return table_.has_queued() || batches_in_flight_ > 0; }
  /// Leaves nothing in the loop.
  void stop() { timer_.cancel(); }

 private:
  static constexpr std::size_t most_keys_per_call = 64;
  static constexpr int repeats_per_tick = 64;

  /// A command that settles or renews.
  struct Batch final : Recipient {
    explicit Batch(Holds& its_owner) : owner(its_owner) {}
    void on_reply(const redisReply& reply) noexcept override { owner.on_batch(*this, reply); }
    void on_loss(store::Error, std::string_view) noexcept override {
      for (const HoldTable::Sent& one : sent)
        owner.table_.lost(one);
      owner.give_back(*this);
    }
    Holds& owner;
    Node* node = nullptr;  ///< to which it was sent
    rules::Algorithm algorithm{};
    std::size_t script = 0;
    boost::container::static_vector<HoldTable::Sent, most_keys_per_call> sent;
  };

  bool append(std::string& command, QuestionHolds& holds, std::size_t script,
              std::span<const store::Claim> claims, std::optional<Instant> script_time,
              ScriptLoader& loader);
  template <class End>
  void end(QuestionHolds& holds, End&& end_one) noexcept;
  void give_back(Batch& batch) noexcept;
  void end_batch(Batch& batch, const HoldTable::Reply* replies) noexcept;
  void on_batch(Batch& batch, const redisReply& reply) noexcept;
  void on_refused(Batch& batch, std::string_view text) noexcept;
  bool may_repeat() { return repeats_left_-- > 0; }
  bool send_batch(rules::Algorithm algorithm);
  void send_batch(rules::Algorithm algorithm, Node& node, bool asking);
  void post_flush() noexcept;
  void flush() noexcept;
  void arm() noexcept;

  Dependencies with_;
  HoldTable table_;
  Instant script_time_{};  ///< the latest `now`
  store::Reused<Batch> batches_;
  std::size_t batches_in_flight_ = 0;
  std::vector<HeldKey*> queued_;
  std::string command_;
  std::string arguments_;  ///< scratch
  bool flush_posted_ = false;
  loop::HandlerMemory flush_handler_;
  loop::Timer timer_;
  bool is_armed_ = false;
  int repeats_left_ = repeats_per_tick;  ///< of commands that a server has refused
  loop::HandlerMemory timer_handler_;
  loop::Presence presence_;
};

/// All claims of one request. `held`: for each claim its key in the table; nullptr: it holds
/// nothing.
void append_held_question(std::string& out, ScriptName script, const KeySpace& keys,
                          std::span<const store::Claim> claims,
                          std::span<const HoldTable::Sent> held, std::optional<Instant> now = {});

/// The numbers of keys of one algorithm.
void append_settlements(std::string& out, ScriptName script, const KeySpace& keys,
                        std::span<const HoldTable::Sent> held, std::optional<Instant> now = {});

/// Keeps the arguments of the policy, for settlements of the key; if there is no memory, those it
/// had.
void write_policy_arguments(HeldKey& held, const rules::Policy& policy, std::string& scratch);

}  // namespace weir::redis
