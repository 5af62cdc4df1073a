#include "admin/store_health.hpp"

#include <algorithm>
#include <utility>

namespace weir::admin {
namespace {

constexpr Duration log_interval = std::chrono::minutes(1);
/// Logged in one outage. Texts of errors may contain what changes each time.
constexpr std::size_t most_reasons = 8;

}  // namespace

StoreHealth::Change StoreHealth::report(std::size_t worker, StoreStatus status) {
  const std::lock_guard lock(mutex_);
  const bool before = is_deciding();
  workers_[worker] = std::move(status);
  const bool after = is_deciding();
  if (before == after) return Change::none;
  logged_reasons_.clear();
  return after ? Change::back : Change::lost;
}

bool StoreHealth::may_log(store::Error error, Instant now) {
  const std::lock_guard lock(mutex_);
  auto& logged_at = logged_at_[static_cast<std::size_t>(error)];
  if (logged_at && now - *logged_at < log_interval) return false;
  logged_at = now;
  return true;
}

void StoreHealth::report_instances(InstancesStatus status) {
  const std::lock_guard lock(mutex_);
  instances_ = std::move(status);
}

InstancesStatus StoreHealth::instances() const {
  const std::lock_guard lock(mutex_);
  return instances_;
}

bool StoreHealth::is_deciding() const {
  return std::ranges::all_of(workers_, &StoreStatus::deciding);
}

bool StoreHealth::is_up() const {
  const std::lock_guard lock(mutex_);
  return is_deciding() && std::ranges::all_of(workers_, &StoreStatus::connected);
}

bool StoreHealth::may_log_reason(const std::string& reason, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(logged_reasons_, reason, &LoggedReason::text);
  if (known != logged_reasons_.end()) {
    const bool is_latest = std::next(known) == logged_reasons_.end();
    if (is_latest || now - known->at < log_interval) return false;
    logged_reasons_.erase(known);
  } else if (logged_reasons_.size() == most_reasons) {
    return false;
  }
  logged_reasons_.push_back({.text = reason, .at = now});
  return true;
}

std::string StoreHealth::last_error() const {
  const std::lock_guard lock(mutex_);
  const auto worker = std::ranges::find(workers_, false, &StoreStatus::deciding);
  return worker == workers_.end() ? std::string() : worker->last_error;
}

}  // namespace weir::admin
