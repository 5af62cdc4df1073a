#include "limiter/plan_table.hpp"

#include <algorithm>
#include <bit>

namespace weir::limiter {

PlanTable::PlanTable(std::size_t most) : entries_(most == 0 ? 0 : most + most / 3 + 1) {}

std::size_t PlanTable::place_of(const Hash128& client) const {
  const auto words = std::bit_cast<Words>(client);
  std::size_t place = client.low % entries_.size();
  while (entries_[place].plan != unused && entries_[place].client != words)
    place = place + 1 == entries_.size() ? 0 : place + 1;
  return place;
}

std::uint16_t PlanTable::add(const Hash128& client, std::uint16_t plan) {
  Entry& entry = entries_[place_of(client)];
  if (entry.plan == unused) {
    entry = {.client = std::bit_cast<Words>(client), .plan = plan};
    ++size_;
  }
  return entry.plan;
}

bool operator==(const PlanTable& a, const PlanTable& b) {
  if (a.size_ != b.size_) return false;
  return std::ranges::all_of(a.entries_, [&](const PlanTable::Entry& entry) {
    return entry.plan == PlanTable::unused ||
           b.find(std::bit_cast<Hash128>(entry.client)) == entry.plan;
  });
}

}  // namespace weir::limiter
