#include "redis/cluster.hpp"

#include <hiredis/hiredis.h>
#include <new>
#include <utility>

#include <boost/asio/post.hpp>

#include "redis/error_reply.hpp"
#include "redis/override_text.hpp"
#include "redis/remedy.hpp"

namespace weir::redis {
namespace {

constexpr auto pause_without_memory = std::chrono::milliseconds(100);

constexpr std::string_view unowned_text =
    "slots have no master; see redis-cli --cluster check, and assign them with --cluster fix";

/// For the status. `ranges`: those of the reply; nothing if it has another form.
std::string error_instead_of_slots(const redisReply& reply, const std::optional<SlotRanges>& ranges,
                                   const std::string& server) {
  if (ranges && !ranges->empty()) return {};
  if (ranges)
    return server +
           " has not joined a cluster with slots; see redis-cli --cluster check, or list "
           "nodes of another cluster in store.redis.servers";
  if (reply.type != REDIS_REPLY_ERROR) return server + ": the reply to CLUSTER SLOTS is malformed";
  std::string text = server + ": " + printable(text_of(reply));
  const std::string_view remedy = slots_remedy(text_of(reply));
  if (!remedy.empty()) text.append("; ").append(remedy);
  return text;
}

/// Neither connected nor failed yet.
bool is_connecting(const Node& node) {
  return !node.is_ready() && node.last_error().empty();
}

/// Replaces `masters` if those of the map are others.
void note_masters(std::shared_ptr<const MasterLayout>& masters, const ClusterMap& map) noexcept {
  try {
    MasterLayout found{.name = {}, .ranges = map.ranges()};
    const bool is_known = masters && *masters == found;
    if (is_known || found.ranges.empty()) return;
    masters = std::make_shared<const MasterLayout>(std::move(found));
  } catch (const std::bad_alloc&) {
    // The next reply has them, too.
  }
}

/// Slots that have no master.
std::size_t unowned_slots(const ClusterMap& map) {
  std::size_t unowned = hash_slots;
  for (std::size_t server = 0; server < map.size(); ++server)
    unowned -= map.slots(server);
  return unowned;
}

/// Whether each server is connected or has failed, and the connected ones have returned which
/// servers have the slots, or that they have none.
bool has_tried_all(const ClusterMap& map, const ClusterMembers& members,
                   std::size_t replies_without_slots) {
  std::size_t connecting = 0;
  std::size_t ready = 0;
  members.each([&](const ClusterMember& member) {
    if (is_connecting(member.node)) ++connecting;
    if (member.node.is_ready()) ++ready;
  });
  if (connecting > 0) return false;
  return unowned_slots(map) < hash_slots || replies_without_slots >= ready;
}

}  // namespace

Cluster::Cluster(const Dependencies& with)
    : with_(with),
      map_(with.options.servers, with.options.connect_timeout),
      holds_({.io = with.io,
              .nodes = *this,
              .catalog = with.catalog,
              .clock = with.clock,
              .counters = with.counters,
              .seed = with.seed,
              .keys_per_call = 1}),
      store_({.io = with.io,
              .masters = *this,
              .holds = holds_,
              .counters = with.counters,
              .clock = with.clock,
              .generation_slot = slot_of_key(generation_key(with.options.key_prefix)),
              .timeout = with.options.timeout,
              .breaker = with.breaker}),
      members_({.owner = *this,
                .nodes = with_,
                .lookup = *this,
                .holds = holds_,
                .breaker = store_.breaker_options()}),
      timer_(with.io.get_executor()) {}

Cluster::~Cluster() {
  stop();
}

void Cluster::start() {
  is_stopped_ = false;
  handle([this](Time now) { return map_.start(now); });
}

void Cluster::stop() {
  is_stopped_ = true;
  timer_.cancel();
  store_.stop();
  members_.stop();
  holds_.stop();
}

void Cluster::on_catalog() {
  members_.each([](ClusterMember& member) { member.node.on_catalog(); });
}

// ---- actions of the map ----

template <class Event>
void Cluster::handle(Event&& event) noexcept {
  if (is_stopped_) return;
  const Time now = std::chrono::steady_clock::now();
  try {
    perform(event(now));
  } catch (const std::bad_alloc&) {
    recover();
  }
}

/// The timer is armed in the next pass of the loop: a handler that is cancelled here has left its
/// memory then. catch_up() does what was left undone.
void Cluster::recover() noexcept {
  timer_.cancel();
  if (std::exchange(recovery_posted_, true)) return;
  asio::post(with_.io, recovery_handler_([this, watch = presence_.watch()] {
               if (watch.expired()) return;
               recovery_posted_ = false;
               if (is_stopped_) return;
               try {
                 arm(std::chrono::steady_clock::now() + pause_without_memory);
               } catch (const std::bad_alloc&) {
                 recover();
               }
             }));
}

void Cluster::perform(const ClusterMap::Actions& actions) {
  for (const std::size_t server : actions.close)
    members_.close(server);
  for (const std::size_t server : actions.open)
    members_.open(server, map_.address(server));
  ClusterMember* const asked = members_.at(actions.ask);
  if (actions.ask && (asked == nullptr || !asked->ask_for_slots()))
    return perform(map_.on_no_slots(std::chrono::steady_clock::now()));
  arm(actions.wake_at);
}

/// Closes and opens those that were not for lack of memory.
void Cluster::catch_up() {
  for (std::size_t server = 0; server < map_.size(); ++server) {
    const bool is_open = map_.is_open(server);
    const ClusterMember* const member = members_.at(server);
    if (is_open && member != nullptr && member->address == map_.address(server)) continue;
    members_.close(server);
    if (is_open) members_.open(server, map_.address(server));
  }
}

void Cluster::arm(std::optional<Time> wake_at) {
  if (!wake_at) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*wake_at);
  timer_.async_wait(timer_handler_([this, watch = presence_.watch()](error_code ec) {
    if (watch.expired() || ec) return;
    handle([this](Time now) {
      catch_up();
      return map_.on_deadline(now);
    });
  }));
}

// ---- events ----

void Cluster::on_change(ClusterMember& member) {
  const bool is_ready = member.node.is_ready();
  handle([&](Time now) {
    return is_ready ? map_.on_ready(member.index, now) : map_.on_failure(member.index, now);
  });
  report();
}

/// Nothing is reported before it is known whether the slots can be used: a server of the
/// configuration may be down, or have no slots.
void Cluster::report() noexcept {
  is_known_ = is_known_ || map_.is_whole() || has_tried_all(map_, members_, replies_without_slots_);
  try {
    if (is_known_ && changed_) changed_();
  } catch (const std::bad_alloc&) {
    // status() has the same later.
  }
}

void Cluster::on_slots(ClusterMember& member, const redisReply& reply) noexcept {
  handle([&](Time now) {
    const auto ranges = slot_ranges_in(reply, member.address);
    slots_error_ = error_instead_of_slots(reply, ranges, member.name);
    replies_without_slots_ = slots_error_.empty() ? 0 : replies_without_slots_ + 1;
    return ranges ? map_.on_slots(*ranges, now) : map_.on_no_slots(now);
  });
  note_masters(masters_, map_);
  report();
}

void Cluster::on_no_slots() noexcept {
  slots_error_.clear();
  handle([this](Time now) { return map_.on_no_slots(now); });
}

NodeLookup::Redirect Cluster::on_refused(Node& from, std::string_view text) noexcept {
  refusal_ = {};
  const ClusterMember* const member = members_.of(from);
  const Redirect later{.is_expected = true};
  try {
    const auto refusal =
        slot_refusal_in(text, member == nullptr ? options::RedisServer{} : member->address);
    if (!refusal) return {};
    if (member == nullptr) return later;  // it was closed
    handle([&](Time now) { return map_.on_refusal(*refusal, now); });
    ClusterMember* const to = members_.at(map_.find(refusal->server));
    if (to == nullptr) return later;
    refusal_ = {.to = &to->master, .asking = refusal->kind == SlotRefusal::Kind::ask};
    return {.is_expected = true, .node = &to->node, .asking = refusal_.asking};
  } catch (const std::bad_alloc&) {
    return later;
  }
}

// ---- state ----

Node* Cluster::node_at(HashSlot slot) {
  ClusterStore::Master* const master = master_at(slot);
  return master == nullptr ? nullptr : &master->node;
}

ClusterStore::Master* Cluster::master_at(HashSlot slot) {
  ClusterMember* const member = members_.at(map_.owner(slot));
  return member == nullptr ? nullptr : &member->master;
}

Hash128 Cluster::an_identity_of(const Node& node) const {
  const ClusterMember* const member = members_.of(node);
  if (member == nullptr || map_.slots(member->index) == 0) return {};
  // About hash_slots / slots of the node are tried.
  for (std::uint64_t number = 0; number < 64 * hash_slots; ++number) {
    const Hash128 identity{number, number};
    if (map_.owner(slot_of(identity)) == member->index) return identity;
  }
  return {};
}

NodesStatus Cluster::status() const {
  NodesStatus status{.has_decided = true,
                     .is_breaker_closed = store_.state() == store::NodeControl::State::closed,
                     .last_breaker_error = store_.last_error(),
                     .masters = masters_};
  const std::size_t unowned = unowned_slots(map_);
  std::size_t lost = unowned;       // and those of masters that are not connected
  std::size_t undecided = unowned;  // and those of masters that do not decide
  std::string servers;
  std::string_view error_reply;
  members_.each([&](const ClusterMember& member) {
    const Node& node = member.node;
    status.has_decided = status.has_decided && node.has_decided();
    if (member.breaker.is_trusted()) return;
    // The calls for the slots of a new master wait until it is connected.
    if (is_known_ && is_connecting(node)) return;
    undecided += map_.slots(member.index);
    if (!node.is_ready()) lost += map_.slots(member.index);
    servers.append(servers.empty() ? "" : ", ").append(member.name);
    if (node.is_ready() && error_reply.empty()) error_reply = node.last_error();
    if (node.is_ready() || !status.last_error.empty()) return;
    status.last_error = node.last_error();
    status.connection_failure = node.connection_failure();
  });
  status.is_ready = lost == 0;
  if (undecided == 0) return status;
  const bool has_no_map = unowned == hash_slots && !slots_error_.empty();
  if (has_no_map) {
    status.last_error = slots_error_;
    status.connection_failure = store::Error::none;
    servers.clear();
  } else if (status.last_error.empty()) {
    status.last_error = unowned > 0 && unowned < hash_slots ? unowned_text : error_reply;
  }
  status.part = "for " + std::to_string(undecided) + " of " + std::to_string(hash_slots) + " slots";
  if (!servers.empty()) status.part += " (" + servers + ")";
  return status;
}

std::string_view Cluster::last_reply(store::Error error) const {
  std::string_view text;
  members_.each([&](const ClusterMember& member) {
    if (text.empty()) text = member.node.last_reply(error);
  });
  return text;
}

}  // namespace weir::redis
