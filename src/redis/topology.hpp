// The Redis that instances share, for one worker: its nodes, and the commands that are no
// decisions.
//
// Belongs to one worker and is used on its loop only. The same rules of destruction as for a node.
#pragma once

#include <cstdint>
#include <memory>

#include "redis/catalog.hpp"
#include "redis/instances.hpp"
#include "redis/nodes.hpp"
#include "store/entries.hpp"
#include "store/event_marks.hpp"
#include "store/override.hpp"

namespace weir::redis {

class EventMarkCommands;
class InstanceAnnouncement;
class OverrideCommands;

class Topology {
 public:
  struct Setup {
    CatalogEntries entries;
    store::NodeControl::Options breaker{};  ///< of each node
    std::uint64_t seed = 0;                 ///< random in production
    Clock script_clock = Clock::server;
  };
  /// `clock` is read for the `now` of completions. The references outlive this.
  Topology(boost::asio::io_context& io, const options::Redis& options, Setup setup,
           const MonotonicClock& clock, StoreCounters& counters, NodeCountersList& node_counters);
  ~Topology();

  /// Prepares for another configuration, as Catalog::extend(). Scripts for new sets are loaded when
  /// they are first used, and are sent as text until then.
  void extend(CatalogEntries entries);
  /// Connects, and keeps doing so until stop().
  void start() { nodes_->start(); }
  /// Ends the connections and fails pending calls. Nothing of this stays in the loop.
  void stop() { nodes_->stop(); }

  /// The store that decides.
  store::GuardedStore& store() { return nodes_->store(); }
  Nodes& nodes() { return *nodes_; }
  const Nodes& nodes() const { return *nodes_; }

  /// The overrides that the scripts read; its calls report later.
  store::Overrides& overrides();
  /// The entries of attributed windows; its calls report later.
  store::EntryReader& entries();
  /// The marks of events; its calls report later, or at once without a connection.
  store::EventMarks& event_marks();
  /// Announces this instance; `done` is called later. Returns false, and sends nothing, without a
  /// connection or before the reply to the previous call.
  bool announce(const Announcement& announcement, Instant now, AnnouncementDone done);

 private:
  const options::Redis options_;
  Catalog catalog_;
  std::unique_ptr<OverrideCommands> overrides_;
  std::unique_ptr<EventMarkCommands> event_marks_;
  std::unique_ptr<InstanceAnnouncement> instances_;
  std::unique_ptr<Nodes> nodes_;  ///< last: its destructor calls recipients
};

}  // namespace weir::redis
