// The topologies with one node: a standalone server, or the master that sentinels return.
#pragma once

#include <memory>

#include "redis/holds.hpp"
#include "redis/node.hpp"
#include "redis/nodes.hpp"
#include "store/circuit_breaker.hpp"

namespace weir::redis {

class Sentinels;

class SingleNode final : public Nodes {
 public:
  explicit SingleNode(const Dependencies& with);
  ~SingleNode() override;

  Node* node_at(HashSlot /*slot*/) override { return &node_; }
  std::vector<HashSlot> one_slot_per_node() const override { return {HashSlot{0}}; }
  Hash128 an_identity_of(const Node& /*node*/) const override { return {}; }
  /// The server is a node of a cluster, which `topology: cluster` is for.
  Redirect on_refused(Node& /*from*/, std::string_view /*text*/) noexcept override { return {}; }

  void on_catalog() override { node_.on_catalog(); }
  void start() override;
  void stop() override;
  NodesStatus status() const override;
  std::string_view last_reply(store::Error error) const override { return node_.last_reply(error); }
  void watch(std::function<void()> changed) override { node_.watch(std::move(changed)); }
  bool is_settling() const override { return holds_.is_settling(); }
  store::GuardedStore& store() override { return breaker_; }

 private:
  std::shared_ptr<Sentinels> sentinels_;  ///< nullptr: a standalone server
  NodeCounters& counters_;
  Holds holds_;
  Node node_;  ///< its destructor calls recipients
  store::CircuitBreaker breaker_;
};

}  // namespace weir::redis
