#include "admin/store_health.hpp"

#include <algorithm>
#include <utility>

namespace weir::admin {
namespace {

constexpr Duration told_again_after = std::chrono::minutes(1);

}  // namespace

StoreHealth::Change StoreHealth::tell(std::size_t worker, StoreSight sight) {
  const std::lock_guard lock(mutex_);
  const bool before = is_deciding();
  workers_[worker] = std::move(sight);
  const bool after = is_deciding();
  if (before == after) return Change::none;
  return after ? Change::back : Change::lost;
}

bool StoreHealth::is_news(redis::StoreError error, Instant now) {
  const std::lock_guard lock(mutex_);
  auto& told_at = told_at_[static_cast<std::size_t>(error)];
  if (told_at && now - *told_at < told_again_after) return false;
  told_at = now;
  return true;
}

bool StoreHealth::is_deciding() const {
  return std::ranges::all_of(workers_, &StoreSight::deciding);
}

bool StoreHealth::is_connected() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(workers_, &StoreSight::connected);
}

std::string StoreHealth::trouble() const {
  const std::lock_guard lock(mutex_);
  const auto worker = std::ranges::find(workers_, false, &StoreSight::deciding);
  return worker == workers_.end() ? std::string() : worker->trouble;
}

}  // namespace weir::admin
