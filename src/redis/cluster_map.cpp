#include "redis/cluster_map.hpp"

#include <algorithm>
#include <utility>

namespace weir::redis {

ClusterMap::ClusterMap(std::vector<options::RedisServer> servers, Duration timeout)
    : configured_(std::move(servers)), timeout_(timeout) {
  owners_.fill(none);
}

// ---- events ----

ClusterMap::Actions ClusterMap::start(Time now) {
  Actions actions;
  open_configured(actions);
  return finish(std::move(actions), now);
}

ClusterMap::Actions ClusterMap::on_ready(std::size_t server, Time now) {
  servers_[server].is_ready = true;
  return finish({}, now);
}

ClusterMap::Actions ClusterMap::on_failure(std::size_t server, Time now) {
  servers_[server].is_ready = false;
  if (servers_[server].slots > 0) want(now);
  Actions actions;
  if (std::ranges::none_of(servers_, &Server::is_ready)) open_configured(actions);
  return finish(std::move(actions), now);
}

ClusterMap::Actions ClusterMap::on_slots(const SlotRanges& ranges, Time now) {
  // A node that was reset, or has not joined the cluster, knows no slots: another one is asked.
  if (ranges.empty()) return on_no_slots(now);
  Actions actions;
  asked_.reset();
  is_wanted_ = false;
  for (Server& server : servers_)
    server.slots = 0;
  owners_.fill(none);
  for (const SlotRange& range : ranges) {
    const std::size_t server = open(range.master, actions);
    for (std::size_t slot = range.first; slot <= range.last; ++slot)
      give(static_cast<HashSlot>(slot), server);
  }
  close_unused(now, actions);
  return finish(std::move(actions), now);
}

ClusterMap::Actions ClusterMap::on_no_slots(Time now) {
  asked_.reset();
  is_wanted_ = true;
  return finish({}, now);
}

ClusterMap::Actions ClusterMap::on_refusal(const SlotRefusal& refusal, Time now) {
  Actions actions;
  switch (refusal.kind) {
    case SlotRefusal::Kind::moved:
      give(refusal.slot, open(refusal.server, actions));
      want(now);
      break;
    case SlotRefusal::Kind::ask:
      servers_[open(refusal.server, actions)].keep_until = now + kept_for;
      break;
    case SlotRefusal::Kind::elsewhere:
    case SlotRefusal::Kind::down:
      want(now);
      break;
    case SlotRefusal::Kind::try_again:
      break;
  }
  return finish(std::move(actions), now);
}

ClusterMap::Actions ClusterMap::on_deadline(Time now) {
  if (asked_ && now >= ask_until_) return on_no_slots(now);
  return finish({}, now);
}

// ---- state ----

std::size_t ClusterMap::open(const options::RedisServer& address, Actions& actions) {
  if (const auto found = find(address)) return *found;
  auto free = std::ranges::find(servers_, false, &Server::is_open);
  // The caller has not closed those yet that this event closes.
  if (free == servers_.end()) free = servers_.emplace(servers_.end());
  *free = {.address = address, .is_open = true};
  const auto server = static_cast<std::size_t>(free - servers_.begin());
  actions.open.push_back(server);
  return server;
}

void ClusterMap::open_configured(Actions& actions) {
  for (const options::RedisServer& address : configured_)
    open(address, actions);
}

void ClusterMap::close_unused(Time now, Actions& actions) {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    if (!server.is_open || server.slots > 0 || now < server.keep_until) continue;
    server.is_open = server.is_ready = false;
    actions.close.push_back(i);
  }
}

void ClusterMap::give(HashSlot slot, std::size_t server) {
  if (owners_[slot] != none) --servers_[owners_[slot]].slots;
  owners_[slot] = static_cast<std::uint16_t>(server);
  ++servers_[server].slots;
}

/// The first read is at once, the next ones after a pause.
void ClusterMap::want(Time now) {
  if (now >= not_before_ + longest_pause) pause_ = first_pause;
  is_wanted_ = true;
}

/// Reads the slots if that is due, and sets the timer.
ClusterMap::Actions ClusterMap::finish(Actions actions, Time now) {
  if (asked_) {
    actions.wake_at = ask_until_;
    return actions;
  }
  if (!is_wanted_ && is_whole()) return actions;
  if (now < not_before_) {
    actions.wake_at = not_before_;
    return actions;
  }
  const auto server = next_to_ask();
  if (!server) return actions;  // the next that is connected
  asked_ = actions.ask = server;
  last_asked_ = *server;
  actions.wake_at = ask_until_ = now + timeout_;
  not_before_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
  return actions;
}

std::optional<std::size_t> ClusterMap::next_to_ask() const {
  for (std::size_t i = 1; i <= servers_.size(); ++i) {
    const std::size_t server = (last_asked_ + i) % servers_.size();
    if (servers_[server].is_ready) return server;
  }
  return std::nullopt;
}

std::optional<std::size_t> ClusterMap::find(const options::RedisServer& address) const {
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (servers_[i].is_open && servers_[i].address == address) return i;
  return std::nullopt;
}

std::size_t ClusterMap::missing_slots() const {
  std::size_t missing = hash_slots;
  for (const Server& server : servers_)
    if (server.is_ready) missing -= server.slots;
  return missing;
}

bool ClusterMap::is_whole() const {
  return missing_slots() == 0;
}

SlotRanges ClusterMap::ranges() const {
  SlotRanges ranges;
  std::uint16_t previous = none;
  for (std::size_t slot = 0; slot < hash_slots; ++slot) {
    const std::uint16_t server = owners_[slot];
    const auto number = static_cast<HashSlot>(slot);
    if (server != none && server == previous) {
      ranges.back().last = number;
    } else if (server != none) {
      ranges.push_back({number, number, servers_[server].address});
    }
    previous = server;
  }
  return ranges;
}

std::vector<HashSlot> ClusterMap::one_slot_per_server() const {
  std::vector<HashSlot> slots;
  std::vector<bool> is_seen(servers_.size());
  for (std::size_t slot = 0; slot < hash_slots; ++slot) {
    const std::uint16_t server = owners_[slot];
    if (server == none || is_seen[server]) continue;
    is_seen[server] = true;
    slots.push_back(static_cast<HashSlot>(slot));
  }
  return slots;
}

}  // namespace weir::redis
