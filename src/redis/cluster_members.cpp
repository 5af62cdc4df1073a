#include "redis/cluster_members.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <boost/asio/post.hpp>

#include "redis/server_address.hpp"

namespace weir::redis {
namespace {

constexpr std::string_view slots_command = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";

/// The options of the connection to one node. A cluster has one database.
options::Redis options_of(const options::Redis& options, const options::RedisServer& server) {
  options::Redis of_node = options;
  of_node.host = server.host;
  of_node.port = server.port;
  of_node.database = 0;
  return of_node;
}

}  // namespace

ClusterMember::ClusterMember(const Dependencies& with, std::size_t its_index,
                             const options::RedisServer& its_address)
    : owner_(with.owner),
      options_(options_of(with.nodes.options, its_address)),
      index(its_index),
      address(its_address),
      name(server_text(its_address)),
      counters(with.nodes.node_counters.of(name)),
      node({.io = with.nodes.io,
            .options = options_,
            .catalog = with.nodes.catalog,
            .holds = with.holds,
            .nodes = with.lookup,
            .clock = with.nodes.clock,
            .counters = with.nodes.counters,
            .node_counters = counters,
            .seed = with.nodes.seed + its_index}),
      breaker(node, with.breaker, counters.breaker) {
  node.watch([this] { owner_.on_change(*this); });
}

bool ClusterMember::ask_for_slots() {
  is_asked_ = node.connection().send(slots_command, *this);
  return is_asked_;
}

void ClusterMember::on_reply(const redisReply& reply) noexcept {
  if (std::exchange(is_asked_, false)) owner_.on_slots(*this, reply);
}

void ClusterMember::on_loss(store::Error /*why*/, std::string_view /*text*/) noexcept {
  if (std::exchange(is_asked_, false)) owner_.on_no_slots();
}

ClusterMembers::~ClusterMembers() {
  each(
      [](ClusterMember& member) { member.counters.users.fetch_sub(1, std::memory_order_relaxed); });
}

void ClusterMembers::open(std::size_t server, const options::RedisServer& address) {
  close(server);
  if (members_.size() <= server) members_.resize(server + 1);
  members_[server] = std::make_unique<ClusterMember>(with_, server, address);
  members_[server]->counters.users.fetch_add(1, std::memory_order_relaxed);
  members_[server]->node.start();
}

/// This may run within a reply to the node: it is stopped in the next pass of the loop, and
/// destroyed in the one after that, when nothing of it is pending.
void ClusterMembers::close(std::size_t server) {
  if (at(server) == nullptr) return;
  const auto last = leaving_.insert(leaving_.end(), nullptr);
  auto& io = with_.nodes.io;
  try {
    asio::post(io, [this, &io, last, watch = presence_.watch()] {
      if (watch.expired()) return;
      (*last)->node.stop();
      try {
        asio::post(io, [this, last, watch] {
          if (!watch.expired()) leaving_.erase(last);
        });
      } catch (const std::bad_alloc&) {
        // It is stopped, and stays until the end of this object.
      }
    });
  } catch (const std::bad_alloc&) {
    leaving_.erase(last);
    throw;
  }
  *last = std::move(members_[server]);
  (*last)->node.watch(nullptr);
  (*last)->counters.users.fetch_sub(1, std::memory_order_relaxed);
}

void ClusterMembers::stop() {
  each([](ClusterMember& member) { member.node.stop(); });
  for (const auto& member : leaving_)
    member->node.stop();
}

ClusterMember* ClusterMembers::of(const Node& node) const {
  const auto found = std::ranges::find_if(
      members_, [&](const auto& member) { return member && &member->node == &node; });
  return found == members_.end() ? nullptr : found->get();
}

std::vector<ClusterStore::Master*> ClusterMembers::masters() const {
  std::vector<ClusterStore::Master*> list;
  each([&](ClusterMember& member) { list.push_back(&member.master); });
  return list;
}

}  // namespace weir::redis
