// The questions of one node that wait to be written, and the calls in which several of them are
// sent together.
//
// A question waits until the connection is about to write, which is when a command that was sent at
// once would have left: joining makes no question later, and one alone is sent as its own command.
// While the server is busy (store::Acquisition::may_gather), questions that do not fill a call wait
// until replies arrive. Questions are joined if the same script decides them, and in a cluster if
// their keys are in one slot. The reply of a call is passed to each of its questions, so a question
// does not depend on how it was sent. A question that times out before it is written is not sent.
//
// In the steady state nothing is allocated, and without memory the questions are sent one by one.
// Used on the loop only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/container/static_vector.hpp>

#include "redis/catalog.hpp"
#include "redis/connection.hpp"
#include "redis/joined_command.hpp"
#include "redis/outcomes.hpp"
#include "redis/pending_questions.hpp"
#include "redis/script_loader.hpp"
#include "store/reused.hpp"

namespace weir::redis {

class JoinedCalls {
 public:
  struct Dependencies {
    Connection& connection;
    Catalog& catalog;
    ScriptLoader& loader;
    StoreCounters& counters;
    bool by_slot;  ///< join only questions of one slot
  };
  /// The constructor uses none of them.
  explicit JoinedCalls(const Dependencies& with) : with_(with), by_slot_(with.by_slot) {}
  JoinedCalls(const JoinedCalls&) = delete;
  JoinedCalls& operator=(const JoinedCalls&) = delete;

  /// Queues a question whose command is by SHA, while the connection is ready. It has its deadline.
  void add(Question& question) noexcept;
  /// The connection is about to write: sends the questions that are queued, or returns true if they
  /// wait for replies. See HiredisAdapter::Owner::on_write().
  bool on_write(bool after_replies) noexcept;
  /// Sends the questions that are queued. Called before any other command whose order matters.
  void flush() noexcept;
  /// The connection has ended: questions that are queued are lost.
  void on_connection_end() noexcept;

  /// Questions without a reply that the connection does not count: those that are queued, and all
  /// but one of each call.
  std::size_t uncounted() const { return queue_.size() + joined_; }

 private:
  using Questions = boost::container::static_vector<Question*, most_joined_requests>;

  struct Call final : Recipient {
    explicit Call(JoinedCalls& its_owner) : owner(its_owner) {}
    void on_reply(const redisReply& reply) noexcept override { owner.on_reply(*this, reply); }
    void on_loss(store::Error why, std::string_view text) noexcept override {
      owner.on_loss(*this, why, text);
    }
    JoinedCalls& owner;
    std::size_t script = 0;  ///< with joins_requests
    Questions questions;
  };

  Questions take_group();
  bool belongs(const Question& question, const Question& first) const;
  bool send_joined(const Questions& questions);
  void send_alone(Question& question) noexcept;
  void on_reply(Call& call, const redisReply& reply) noexcept;
  void on_loss(Call& call, store::Error why, std::string_view text) noexcept;
  void reload(std::size_t script) noexcept;
  template <class End>
  void end(Call& call, End&& end_one) noexcept;

  Dependencies with_;
  bool by_slot_;
  bool may_gather_ = false;  ///< the questions that are queued
  boost::container::static_vector<Question*, 2 * most_joined_requests> queue_;
  store::Reused<Call> calls_;
  std::size_t joined_ = 0;  ///< questions in calls, without the first of each
  std::string command_;     ///< scratch
};

}  // namespace weir::redis
