#include "redis/single_node.hpp"

#include "redis/sentinels.hpp"
#include "redis/server_address.hpp"

namespace weir::redis {
namespace {

std::shared_ptr<Sentinels> sentinels_of(const Nodes::Dependencies& with, Node& node) {
  if (with.options.topology != options::RedisTopology::sentinel) return nullptr;
  return Sentinels::make(with.io, with.options, [&node](const options::RedisServer& master) {
    node.leave("a sentinel reports another master, " + server_text(master));
  });
}

/// The node in metrics.
std::string label_of(const options::Redis& options) {
  return options.topology == options::RedisTopology::sentinel ? options.sentinel_master
                                                              : server_text(options);
}

}  // namespace

SingleNode::SingleNode(const Dependencies& with)
    : sentinels_(sentinels_of(with, node_)),
      counters_(with.node_counters.of(label_of(with.options))),
      holds_({.io = with.io,
              .nodes = *this,
              .catalog = with.catalog,
              .clock = with.clock,
              .counters = with.counters,
              .seed = with.seed}),
      node_({.io = with.io,
             .options = with.options,
             .catalog = with.catalog,
             .holds = holds_,
             .nodes = *this,
             .clock = with.clock,
             .counters = with.counters,
             .node_counters = counters_,
             .seed = with.seed,
             .locator = sentinels_.get()}),
      breaker_(node_, with.breaker, counters_.breaker) {
  counters_.users.fetch_add(1, std::memory_order_relaxed);
}

SingleNode::~SingleNode() {
  if (sentinels_) sentinels_->stop();
  counters_.users.fetch_sub(1, std::memory_order_relaxed);
}

void SingleNode::start() {
  if (sentinels_) sentinels_->start();
  node_.start();
}

void SingleNode::stop() {
  if (sentinels_) sentinels_->stop();
  node_.stop();
  holds_.stop();
}

NodesStatus SingleNode::status() const {
  return {.is_ready = node_.is_ready(),
          .is_partial = !node_.last_reply(store::Error::redirected).empty(),
          .connection_failure = node_.connection_failure(),
          .has_decided = node_.has_decided(),
          .is_breaker_closed = breaker_.state() == store::NodeControl::State::closed,
          .last_breaker_error = breaker_.last_error(),
          .last_error = node_.last_error(),
          .masters = sentinels_ ? sentinels_->masters() : nullptr};
}

}  // namespace weir::redis
