#include "proxy/address_connections.hpp"

#include <algorithm>
#include <string_view>

namespace weir::proxy {
namespace {

/// Idle entries that are looked at for each new connection: more than it can add.
constexpr int looks_at_idle = 2;

}  // namespace

std::size_t AddressConnections::Hash::operator()(const IpAddress& address) const {
  const auto& bytes = address.bytes();
  return siphash128(key, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).low;
}

AddressConnections::Bound AddressConnections::admit(const IpAddress& address,
                                                    const options::PerAddress& bounds, Instant now,
                                                    Slot& slot) {
  const std::lock_guard lock(mutex_);
  latest_ = std::max(latest_, now);
  forget_recovered(bounds);
  const auto entry = find_or_add(address);
  if (bounds.connections != 0 && entry->connections >= bounds.connections)
    return Bound::connections;
  if (bounds.rate) {
    if (!rules::admit(*bounds.rate, entry->rate, latest_, {.cost = 1}).allowed) {
      if (entry->connections == 0) idle_.splice(idle_.end(), idle_, entry);
      return Bound::rate;
    }
    rules::charge(*bounds.rate, entry->rate, latest_, 1);
  }
  slot = take(entry);
  return Bound::none;
}

AddressConnections::Slot AddressConnections::count(const IpAddress& address) {
  const std::lock_guard lock(mutex_);
  return take(find_or_add(address));
}

std::size_t AddressConnections::size() const {
  const std::lock_guard lock(mutex_);
  return by_address_.size();
}

/// A new entry is idle; the caller takes it.
AddressConnections::Entries::iterator AddressConnections::find_or_add(const IpAddress& address) {
  const auto found = by_address_.find(address);
  if (found != by_address_.end()) return found->second;
  Entries added;
  added.push_back({.address = address});
  const auto entry = added.begin();
  by_address_.emplace(address, entry);
  idle_.splice(idle_.end(), added);
  return entry;
}

AddressConnections::Slot AddressConnections::take(Entries::iterator entry) {
  if (entry->connections++ == 0) busy_.splice(busy_.end(), idle_, entry);
  return {*this, entry};
}

void AddressConnections::release(Entries::iterator entry) {
  const std::lock_guard lock(mutex_);
  if (--entry->connections != 0) return;
  idle_.splice(idle_.end(), busy_, entry);
  if (entry->rate == rules::GcraState{}) {
    forget(entry);
  } else if (idle_.size() > most_idle_) {
    forget(idle_.begin());
  }
}

void AddressConnections::forget(Entries::iterator idle) {
  by_address_.erase(idle->address);
  idle_.erase(idle);
}

/// Forgets idle entries that equal new ones.
void AddressConnections::forget_recovered(const options::PerAddress& bounds) {
  for (int i = 0; i < looks_at_idle && !idle_.empty(); ++i) {
    const auto oldest = idle_.begin();
    if (bounds.rate && rules::whole_at(*bounds.rate, oldest->rate) > latest_) return;
    forget(oldest);
  }
}

}  // namespace weir::proxy
