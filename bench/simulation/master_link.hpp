// A modelled connection of one instance to one master, as the remote store of its circuit breaker.
//
// Questions and settlements wait until the pass of the worker's loop ends. Questions then share
// calls as in redis/joined_calls.hpp: in a cluster those of one slot, and none that holds. A call
// takes a random time to the master, waits until the master is free, and its reply takes a random
// time back; the order of a connection is kept. A reply later than the timeout completes its
// question as timed out, and what it holds is released.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/decision.hpp"
#include "simulation/events.hpp"
#include "simulation/settings.hpp"
#include "store/remote_store.hpp"

namespace weir::simulation {

class World;
class MasterLink;

/// Questions and settlements that the master serves together.
struct Call final : Actor {
  enum Step : int { arrival, deadline, reply };
  struct Question {
    store::Acquisition* acquisition = nullptr;  ///< nullptr: a probe, or it has timed out
    store::Completion* completion = nullptr;    ///< nullptr: it has been completed
    Nanoseconds due_at = 0;
    std::uint32_t key = 0;
    bool holds = false;
    store::Result result;
    rules::Decision decision;
  };
  void act(int step, Nanoseconds now) override;

  MasterLink* link = nullptr;
  std::uint32_t slot = 0;
  bool is_joinable = false;
  std::vector<Question> questions;
  std::vector<store::Settlement> settlements;
  store::GenerationReceiver* receiver = nullptr;  ///< not nullptr: a read of the generation
};

class MasterLink final : public store::RemoteStore, public Actor {
 public:
  MasterLink(World& world, std::uint32_t instance, std::uint32_t master)
      : world_(world), instance_(instance), master_(master) {}

  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override;
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& completion,
                                    Instant now) override;
  std::optional<store::Result> forget(const store::Key& key, store::Completion& completion,
                                      Instant now) override;
  void settle(std::span<const store::Settlement> settlements, Instant now) override;
  bool is_ready() const override { return true; }
  bool has_decided() const override { return has_decided_; }
  std::uint64_t replies() const override { return replies_; }
  std::size_t unanswered() const override { return unanswered_; }
  bool is_silent() const override { return false; }
  void reconnect() override {}
  std::optional<store::Result> probe(store::Completion& completion, Instant now) override;
  bool read_generation(store::GenerationReceiver& receiver) override;

  /// The pass ends: all calls leave.
  void act(int step, Nanoseconds now) override;

 private:
  friend struct Call;

  Call& open_call();
  Call& call_for(std::uint32_t slot, bool holds);
  Call& call_of_settlement(const store::Settlement& settlement);
  void arrive(Call& call, Nanoseconds now);
  Nanoseconds service_of(const Call& call) const;
  void decide(Call::Question& question, Nanoseconds at);
  void expire(Call& call, Nanoseconds now);
  void reply(Call& call, Nanoseconds now);

  World& world_;
  std::uint32_t instance_;
  std::uint32_t master_;
  std::vector<Call*> open_;  ///< they leave when the pass ends
  std::vector<store::Settlement> settlements_;
  bool is_leaving_ = false;
  Nanoseconds last_arrival_ = 0;
  Nanoseconds last_reply_ = 0;
  std::uint64_t replies_ = 0;
  std::size_t unanswered_ = 0;
  bool has_decided_ = true;
};

}  // namespace weir::simulation
