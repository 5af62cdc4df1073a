// The connections of a cluster: each server with its node and its circuit breaker.
//
// Used on the loop only.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/io.hpp"
#include "redis/cluster_store.hpp"
#include "redis/connection.hpp"
#include "redis/node.hpp"
#include "redis/nodes.hpp"
#include "store/circuit_breaker.hpp"

namespace weir::redis {

/// A server with a connection. Receives its replies to CLUSTER SLOTS.
class ClusterMember final : public Recipient {
 public:
  class Owner {
   public:
    /// It is connected, or its connection has ended or could not be made.
    virtual void on_change(ClusterMember& member) = 0;
    /// The reply to ask_for_slots(); an error, too.
    virtual void on_slots(ClusterMember& member, const redisReply& reply) noexcept = 0;
    /// There is no reply, because the connection has ended.
    virtual void on_no_slots() noexcept = 0;

   protected:
    ~Owner() = default;
  };
  struct Dependencies {
    Owner& owner;
    const Nodes::Dependencies& nodes;
    NodeLookup& lookup;
    Holds& holds;
    const store::NodeControl::Options& breaker;
  };

  /// `index`: of the server in the map.
  ClusterMember(const Dependencies& with, std::size_t index, const options::RedisServer& address);

  /// Returns false if nothing was sent.
  bool ask_for_slots();

  void on_reply(const redisReply& reply) noexcept override;
  void on_loss(store::Error why, std::string_view text) noexcept override;

 private:
  Owner& owner_;
  const options::Redis options_;
  bool is_asked_ = false;

 public:
  const std::size_t index;
  const options::RedisServer address;
  const std::string name;  ///< HOST:PORT
  NodeCounters& counters;
  Node node;
  store::CircuitBreaker breaker;
  ClusterStore::Master master{node, breaker};
};

class ClusterMembers {
 public:
  explicit ClusterMembers(const ClusterMember::Dependencies& with) : with_(with) {}
  ~ClusterMembers();
  ClusterMembers(const ClusterMembers&) = delete;
  ClusterMembers& operator=(const ClusterMembers&) = delete;

  /// Begins to connect, after a server that was open at this place is closed.
  void open(std::size_t server, const options::RedisServer& address);
  /// Ends the connection, in the next pass of the loop.
  void close(std::size_t server);
  /// Ends all connections. Nothing of them stays in the loop.
  void stop();

  /// nullptr: it is not open.
  ClusterMember* at(std::optional<std::size_t> server) const {
    return server && *server < members_.size() ? members_[*server].get() : nullptr;
  }
  ClusterMember* of(const Node& node) const;
  std::vector<ClusterStore::Master*> masters() const;
  /// `visit(member)` for each that is open.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& member : members_)
      if (member) visit(*member);
  }

 private:
  const ClusterMember::Dependencies with_;
  std::vector<std::unique_ptr<ClusterMember>> members_;  ///< by the index in the map
  std::list<std::unique_ptr<ClusterMember>> leaving_;    ///< closed, and pending in the loop
  loop::Presence presence_;
};

}  // namespace weir::redis
