// The holds of one worker in Redis: what its questions hold, and the commands that settle and
// renew.
//
// Settlements of one pass of the loop go in one command for each algorithm and 64 keys. They wait
// while there is no connection. Leases are renewed by a timer, which runs while units are held.
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
#include "loop/handler_memory.hpp"
#include "redis/connection.hpp"
#include "redis/hold_table.hpp"
#include "redis/loop_io.hpp"
#include "redis/question_command.hpp"
#include "redis/script_loader.hpp"
#include "redis/script_set.hpp"
#include "store/reused.hpp"

namespace weir::redis {

/// The keys of a question: one for each claim, without a key if the claim holds nothing. Empty: the
/// question is not decided beside holds.
using QuestionHolds = boost::container::static_vector<HoldTable::Sent, store::claims_per_request>;
using HoldReplies = boost::container::static_vector<HoldTable::Reply, store::claims_per_request>;

class Holds {
 public:
  struct Surroundings {
    asio::io_context& io;
    Connection& connection;
    ScriptSet& scripts;
    ScriptLoader& loader;
    const KeySpace& keys;
    const MonotonicClock& clock;
    StoreCounters& counters;
    std::uint64_t seed;
  };
  /// The constructor uses only `io`, `seed` and `counters`.
  explicit Holds(const Surroundings& with);
  Holds(const Holds&) = delete;
  Holds& operator=(const Holds&) = delete;

  /// The policies of which some claims hold, by Claim::policy_id: all their claims see the holds.
  /// Those of earlier calls remain, because their units may still be held.
  void add_policies(const std::vector<bool>& holding);
  /// Whether these claims are decided beside holds.
  bool concerns(std::span<const store::Claim> claims) const;

  /// Composes a question, and returns the index of its script; nothing if too many keys are held.
  /// If the question is not sent then, not_run() follows.
  std::optional<std::size_t> compose(std::string& command, QuestionHolds& holds,
                                     std::span<const store::Claim> claims,
                                     std::optional<Instant> script_time);
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
  /// The connection is ready: sends what waited for it.
  void on_ready() noexcept;
  /// True while settlements wait for the connection or for their reply.
  bool is_settling() const { return table_.has_queued() || batches_in_flight_ > 0; }
  /// Leaves nothing in the loop.
  void stop() { timer_.cancel(); }

 private:
  static constexpr std::size_t keys_per_command = 64;

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
    std::size_t script = 0;
    boost::container::static_vector<HoldTable::Sent, keys_per_command> sent;
  };

  bool append(std::string& command, QuestionHolds& holds, std::size_t script,
              std::span<const store::Claim> claims, std::optional<Instant> script_time);
  template <class End>
  void end(QuestionHolds& holds, End&& end_one) noexcept;
  void give_back(Batch& batch) noexcept;
  void end_batch(Batch& batch, const HoldTable::Reply* replies) noexcept;
  void on_batch(Batch& batch, const redisReply& reply) noexcept;
  bool send_batch(rules::Algorithm algorithm);
  void post_flush() noexcept;
  void flush() noexcept;
  void arm() noexcept;

  Surroundings with_;
  HoldTable table_;
  std::vector<bool> holding_;
  Instant script_time_{};  ///< the latest `now`
  store::Reused<Batch> batches_;
  std::size_t batches_in_flight_ = 0;
  std::vector<HeldKey*> queued_;
  std::string command_;
  std::string arguments_;  ///< scratch
  bool flush_posted_ = false;
  loop::HandlerMemory flush_handler_;
  Timer timer_;
  bool is_armed_ = false;
  bool may_load_ = true;  ///< a script that the server has lost, until the next tick
  loop::HandlerMemory timer_handler_;
  Presence presence_;
};

}  // namespace weir::redis
