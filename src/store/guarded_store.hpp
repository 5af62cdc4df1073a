// The interface of a remote store behind circuit breakers: one node, or several with one breaker
// each. For the links of the chain before it.
//
// Belongs to one worker and is used on its loop only.
#pragma once

#include "base/siphash.hpp"
#include "store/node_control.hpp"
#include "store/remote_store.hpp"

namespace weir::store {

class GuardedStore : public Store {
 public:
  /// Whether the node that decides for this identity is connected and its breaker is closed.
  virtual bool is_trusted(const Hash128& identity) const = 0;
  /// As RemoteStore::read_generation().
  virtual bool read_generation(GenerationReceiver& receiver) = 0;
  /// To be called with every tick of the worker: counts what is in flight. If the last result of a
  /// node was no decision, or its breaker is open, tests without a request whether it decides.
  virtual void probe(Instant now) = 0;
  /// See NodeControl.
  virtual void set_breaker(int failures, Duration retry_after) = 0;
  /// The worst of the nodes.
  virtual NodeControl::State state() const = 0;
  /// The last reason for which no decision was made.
  virtual Error last_error() const = 0;
};

}  // namespace weir::store
