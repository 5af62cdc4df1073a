#include "admin/store_health.hpp"

#include <algorithm>
#include <utility>

namespace weir::admin {
namespace {

constexpr Duration log_interval = std::chrono::minutes(1);

}  // namespace

StoreHealth::Change StoreHealth::report(std::size_t worker, StoreStatus status) {
  const std::lock_guard lock(mutex_);
  const bool before = is_deciding();
  workers_[worker] = std::move(status);
  const bool after = is_deciding();
  if (before == after) return Change::none;
  return after ? Change::back : Change::lost;
}

bool StoreHealth::may_log(store::Error error, Instant now) {
  const std::lock_guard lock(mutex_);
  auto& logged_at = logged_at_[static_cast<std::size_t>(error)];
  if (logged_at && now - *logged_at < log_interval) return false;
  logged_at = now;
  return true;
}

bool StoreHealth::is_deciding() const {
  return std::ranges::all_of(workers_, &StoreStatus::deciding);
}

bool StoreHealth::is_connected() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(workers_, &StoreStatus::connected);
}

std::string StoreHealth::last_error() const {
  const std::lock_guard lock(mutex_);
  const auto worker = std::ranges::find(workers_, false, &StoreStatus::deciding);
  return worker == workers_.end() ? std::string() : worker->last_error;
}

}  // namespace weir::admin
