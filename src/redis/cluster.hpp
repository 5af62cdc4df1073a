// A Redis Cluster, for one worker: a connection to each master that has slots, and the map of the
// slots (redis/cluster_map.hpp).
//
// Each master has a circuit breaker of its own, so one that is lost costs its own slots only. Used
// on the loop only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "redis/cluster_map.hpp"
#include "redis/cluster_members.hpp"
#include "redis/cluster_store.hpp"
#include "redis/holds.hpp"
#include "redis/nodes.hpp"
#include "store/split_requests.hpp"

namespace weir::redis {

/// The slots as the divisions of a store.
class HashSlots final : public store::Divisions {
 public:
  std::uint32_t division_of(const Hash128& identity) const override { return slot_of(identity); }
};

class Cluster final : public Nodes, private ClusterStore::Masters, private ClusterMember::Owner {
 public:
  explicit Cluster(const Dependencies& with);
  ~Cluster() override;

  Node* node_at(HashSlot slot) override;
  std::vector<HashSlot> one_slot_per_node() const override { return map_.one_slot_per_server(); }
  Redirect on_refused(Node& from, std::string_view text) noexcept override;
  Hash128 an_identity_of(const Node& node) const override;

  void on_catalog() override;
  void start() override;
  void stop() override;
  NodesStatus status() const override;
  std::string_view last_reply(store::Error error) const override;
  void watch(std::function<void()> changed) override { changed_ = std::move(changed); }
  bool is_settling() const override { return holds_.is_settling(); }
  store::GuardedStore& store() override { return store_; }

  const store::Divisions* divisions() const override { return &slots_; }

 private:
  ClusterStore::Master* master_at(HashSlot slot) override;
  ClusterStore::Refusal last_refusal() const override { return refusal_; }
  std::vector<ClusterStore::Master*> masters() override { return members_.masters(); }
  using Time = ClusterMap::Time;

  void on_change(ClusterMember& member) override;
  void on_slots(ClusterMember& member, const redisReply& reply) noexcept override;
  void on_no_slots() noexcept override;

  template <class Event>
  void handle(Event&& event) noexcept;
  void perform(const ClusterMap::Actions& actions);
  void recover() noexcept;
  void catch_up();
  void arm(std::optional<Time> wake_at);
  void report() noexcept;

  const Dependencies with_;
  const HashSlots slots_;
  ClusterMap map_;
  Holds holds_;
  std::function<void()> changed_;
  std::shared_ptr<const MasterLayout> masters_;  ///< of the last reply with slots
  std::string slots_error_;  ///< why the server that replied last has returned no slots
  std::size_t replies_without_slots_ = 0;  ///< since the last one with slots
  ClusterStore::Refusal refusal_;
  ClusterStore store_;
  ClusterMembers members_;
  loop::Timer timer_;
  loop::HandlerMemory timer_handler_;
  loop::HandlerMemory recovery_handler_;
  bool recovery_posted_ = false;
  bool is_stopped_ = true;
  bool is_known_ = false;  ///< whether the slots can be used
  loop::Presence presence_;
};

}  // namespace weir::redis
