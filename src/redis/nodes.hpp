// The nodes of a topology, behind circuit breakers: the store of one worker.
//
// Used on the loop only. The same rules of destruction as for a node.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "options/redis.hpp"
#include "redis/catalog.hpp"
#include "redis/master_layout.hpp"
#include "redis/node_counters.hpp"
#include "redis/node_lookup.hpp"
#include "redis/outcomes.hpp"
#include "store/guarded_store.hpp"

namespace weir::redis {

/// Whether Redis decides, for the log and /readyz.
struct NodesStatus {
  bool is_ready = false;    ///< all keys have a node that is connected
  bool is_partial = false;  ///< a node of a cluster, although `topology` is another one
  /// Why a node is not connected, if one is not: see Node::connection_failure().
  store::Error connection_failure = store::Error::none;
  bool has_decided = false;                              ///< see Node::has_decided(), of all nodes
  bool is_breaker_closed = false;                        ///< of all nodes
  store::Error last_breaker_error = store::Error::none;  ///< see GuardedStore::last_error()
  /// The last failure of a connection, or the last error reply; empty if there is none. Never
  /// contains a secret.
  std::string_view last_error{};
  /// The part of the keys for which Redis does not decide: `for 5461 of 16384 slots (HOST:PORT)`.
  /// Empty if it decides, or has one node only.
  std::string part{};
  /// Another object after each change. nullptr: not known yet, or a standalone server.
  std::shared_ptr<const MasterLayout> masters{};
};

class Nodes : public NodeLookup {
 public:
  /// The dependencies of the nodes of every topology. All of it outlives them.
  struct Dependencies {
    boost::asio::io_context& io;
    const options::Redis& options;
    Catalog& catalog;
    const MonotonicClock& clock;
    StoreCounters& counters;
    NodeCountersList& node_counters;
    std::uint64_t seed = 0;
    store::NodeControl::Options breaker;
  };

  virtual ~Nodes() = default;

  /// The catalog has grown.
  virtual void on_catalog() = 0;
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual NodesStatus status() const = 0;
  /// See Node::last_reply().
  virtual std::string_view last_reply(store::Error error) const = 0;
  /// Called from the loop when the status of a connection has changed or an attempt failed.
  virtual void watch(std::function<void()> changed) = 0;
  /// True while settlements wait to be sent or for their reply.
  virtual bool is_settling() const = 0;
  /// nullptr: all keys are at one node.
  virtual const store::Divisions* divisions() const { return nullptr; }
  /// For the chain. Settlements go to the node that has the key now.
  virtual store::GuardedStore& store() = 0;
};

}  // namespace weir::redis
