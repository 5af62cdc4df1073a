#include "redis/topology.hpp"

#include <utility>

#include "redis/cluster.hpp"
#include "redis/event_mark_commands.hpp"
#include "redis/instance_announcement.hpp"
#include "redis/override_commands.hpp"
#include "redis/single_node.hpp"

namespace weir::redis {
namespace {

std::unique_ptr<Nodes> nodes_of(const Nodes::Dependencies& with) {
  if (with.options.topology == options::RedisTopology::cluster)
    return std::make_unique<Cluster>(with);
  return std::make_unique<SingleNode>(with);
}

}  // namespace

Topology::Topology(boost::asio::io_context& io, const options::Redis& options, Setup setup,
                   const MonotonicClock& clock, StoreCounters& counters,
                   NodeCountersList& node_counters)
    : options_(options),
      catalog_(options_.key_prefix, std::move(setup.entries), setup.script_clock),
      instances_(std::make_unique<InstanceAnnouncement>(options_.key_prefix, setup.script_clock)),
      nodes_(nodes_of({.io = io,
                       .options = options_,
                       .catalog = catalog_,
                       .clock = clock,
                       .counters = counters,
                       .node_counters = node_counters,
                       .seed = setup.seed,
                       .breaker = setup.breaker})) {
  overrides_ = std::make_unique<OverrideCommands>(*nodes_, options_.key_prefix, setup.script_clock);
  event_marks_ =
      std::make_unique<EventMarkCommands>(*nodes_, options_.key_prefix, setup.script_clock);
}

Topology::~Topology() = default;

void Topology::extend(CatalogEntries entries) {
  catalog_.extend(std::move(entries));
  nodes_->on_catalog();
}

store::Overrides& Topology::overrides() {
  return *overrides_;
}

store::EntryReader& Topology::entries() {
  return *overrides_;
}

store::EventMarks& Topology::event_marks() {
  return *event_marks_;
}

bool Topology::announce(const Announcement& announcement, Instant now, AnnouncementDone done) {
  return instances_->send(*nodes_, announcement, now, std::move(done));
}

}  // namespace weir::redis
