#include "redis/master_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "redis/server_address.hpp"

namespace weir::redis {
namespace {

constexpr std::size_t most_listed = 10;
constexpr std::size_t no_master = 0;

/// The servers of two layouts as numbers.
class ServerNumbers {
 public:
  /// By slot; no_master if the slot has none.
  std::vector<std::size_t> by_slot(const MasterLayout& masters) {
    std::vector<std::size_t> owners(hash_slots, no_master);
    for (const SlotRange& range : masters.ranges) {
      const std::size_t number = number_of(range.master);
      std::fill(owners.begin() + range.first, owners.begin() + range.last + 1, number);
    }
    return owners;
  }
  std::size_t end() const { return servers_.size() + 1; }
  std::string name(std::size_t number) const { return server_text(servers_[number - 1]); }

 private:
  std::size_t number_of(const options::RedisServer& server) {
    const auto found = std::ranges::find(servers_, server);
    if (found == servers_.end()) servers_.push_back(server);
    return static_cast<std::size_t>(std::ranges::find(servers_, server) - servers_.begin()) + 1;
  }

  std::vector<options::RedisServer> servers_;
};

struct Takeover {
  std::size_t from;
  std::size_t to;
  std::size_t slots;
};

/// The largest first.
std::vector<Takeover> takeovers(const std::vector<std::size_t>& before,
                                const std::vector<std::size_t>& after) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts;
  for (std::size_t slot = 0; slot < hash_slots; ++slot)
    if (before[slot] != after[slot]) ++counts[{before[slot], after[slot]}];
  std::vector<Takeover> list;
  for (const auto& [servers, slots] : counts)
    list.push_back({.from = servers.first, .to = servers.second, .slots = slots});
  std::ranges::stable_sort(list, std::ranges::greater{}, &Takeover::slots);
  return list;
}

std::string slots_text(std::size_t slots) {
  return std::to_string(slots) + (slots == 1 ? " slot" : " slots");
}

std::string takeover_text(const Takeover& one, const ServerNumbers& servers) {
  if (one.to == no_master)
    return slots_text(one.slots) + " of " + servers.name(one.from) +
           (one.slots == 1 ? " has" : " have") + " no master any more";
  std::string text = servers.name(one.to) + " has taken over " + slots_text(one.slots);
  return one.from == no_master ? text + " without a master"
                               : text + " of " + servers.name(one.from);
}

std::string takeovers_text(const std::vector<Takeover>& list, const ServerNumbers& servers) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most_listed); ++i)
    text.append(i == 0 ? "" : ", ").append(takeover_text(list[i], servers));
  std::size_t further = 0;
  for (std::size_t i = most_listed; i < list.size(); ++i)
    further += list[i].slots;
  if (further > 0) text += ", and " + slots_text(further) + " more";
  return text;
}

/// The servers that have slots in `in`, and none in `out`.
std::string servers_text(std::string_view one, std::string_view several,
                         const std::vector<std::size_t>& in, const std::vector<std::size_t>& out,
                         const ServerNumbers& servers) {
  std::vector<bool> listed(servers.end());
  for (const std::size_t server : in)
    listed[server] = true;
  for (const std::size_t server : out)
    listed[server] = false;
  listed[no_master] = false;
  std::string names;
  std::size_t count = 0;
  for (std::size_t server = 0; server < listed.size(); ++server) {
    if (!listed[server] || ++count > most_listed) continue;
    names.append(names.empty() ? "" : ", ").append(servers.name(server));
  }
  if (count == 0) return names;
  if (count > most_listed) names += " and " + std::to_string(count - most_listed) + " more";
  return std::string("; ").append(count == 1 ? one : several).append(": ").append(names);
}

}  // namespace

std::string masters_text(const MasterLayout& layout) {
  std::set<std::string> names;
  for (const SlotRange& range : layout.ranges)
    names.insert(server_text(range.master));
  std::string text;
  for (const std::string& name : names)
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string change_text(const MasterLayout& before, const MasterLayout& after) {
  if (!after.name.empty())
    return "redis sentinel: the master \"" + after.name + "\" is " + masters_text(after) +
           " now; it replaces " + masters_text(before);
  ServerNumbers servers;
  const std::vector<std::size_t> old_owners = servers.by_slot(before);
  const std::vector<std::size_t> new_owners = servers.by_slot(after);
  return "redis cluster: " + takeovers_text(takeovers(old_owners, new_owners), servers) +
         servers_text("new master", "new masters", new_owners, old_owners, servers) +
         servers_text("no longer a master", "no longer masters", old_owners, new_owners, servers);
}

}  // namespace weir::redis
