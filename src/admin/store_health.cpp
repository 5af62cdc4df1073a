#include "admin/store_health.hpp"

#include <algorithm>
#include <utility>

namespace weir::admin {
namespace {

constexpr Duration log_interval = std::chrono::minutes(1);
constexpr Duration undecided_logged_after = std::chrono::seconds(10);
/// Reasons of one kind that are logged in one outage, or in a minute of short ones. Texts of errors
/// may contain what changes each time, such as bytes of a server that is not Redis.
constexpr std::ptrdiff_t most_reasons_of_a_kind = 3;

}  // namespace

void UndecidedRequests::add(const Counts& counts, Instant now) {
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    counts_[kind] += counts[kind];
    if (counts[kind] > 0 && !first_at_) first_at_ = now;
  }
}

std::optional<UndecidedRequests::Report> UndecidedRequests::take_due(Instant now) {
  if (!first_at_ || now - *first_at_ < undecided_logged_after) return std::nullopt;
  return limit_.may_log("undecided requests", now) ? take(now) : std::nullopt;
}

std::optional<UndecidedRequests::Report> UndecidedRequests::take(Instant now) {
  if (!first_at_) return std::nullopt;
  const Report report{.counts = counts_, .within = now - *first_at_};
  counts_ = {};
  first_at_.reset();
  return report;
}

StoreHealth::Line StoreHealth::report(std::size_t worker, StoreStatus status, Instant now) {
  const std::lock_guard lock(mutex_);
  const StoreStatus& reported = workers_[worker] = std::move(status);
  if (is_deciding()) is_of_former_store_ = false;
  if (is_deciding()) return std::exchange(is_loss_logged_, false) ? Line::back : Line::none;
  return reported.deciding ? Line::none : line_of_loss(reported, now);
}

void StoreHealth::begin(std::uint64_t store) {
  const std::lock_guard lock(mutex_);
  if (store <= store_) return;
  store_ = store;
  is_of_former_store_ = is_loss_logged_;
  logged_reasons_.clear();
  masters_.clear();
}

/// The reasons of the last minute count also if Redis was back since. Otherwise a Redis that stalls
/// for a moment again and again would fill the log.
StoreHealth::Line StoreHealth::line_of_loss(const StoreStatus& status, Instant now) {
  const auto is_old = [now](const LoggedReason& one) { return now - one.at >= log_interval; };
  if (!is_loss_logged_) std::erase_if(logged_reasons_, is_old);
  // A reason without the text of an error explains less than the one that was logged before.
  if (!status.is_explained && (!logged_reasons_.empty() || is_of_former_store_))
    return is_loss_logged_ ? Line::none : Line::later;
  const auto known = std::ranges::find(logged_reasons_, status.last_error, &LoggedReason::text);
  if (known != logged_reasons_.end()) {
    const bool is_present = is_loss_logged_ && std::next(known) == logged_reasons_.end();
    if (is_present || !is_old(*known)) return Line::later;
    logged_reasons_.erase(known);
  } else if (std::ranges::count(logged_reasons_, status.kind, &LoggedReason::kind) ==
             most_reasons_of_a_kind) {
    return Line::later;
  }
  logged_reasons_.push_back({.text = status.last_error, .kind = status.kind, .at = now});
  is_loss_logged_ = true;
  is_of_former_store_ = false;
  return Line::loss;
}

std::optional<UndecidedRequests::Report> StoreHealth::report_undecided(
    const UndecidedRequests::Counts& counts, Instant now, bool is_last) {
  const std::lock_guard lock(mutex_);
  undecided_.add(counts, now);
  if (is_last) return undecided_.take(now);
  return is_loss_logged_ ? std::nullopt : undecided_.take_due(now);
}

void StoreHealth::report_masters(std::uint64_t store,
                                 std::shared_ptr<const redis::MasterLayout> masters) {
  const std::lock_guard lock(mutex_);
  if (store >= store_) masters_.report(std::move(masters));
}

std::optional<std::string> StoreHealth::masters_change(Instant now) {
  const std::lock_guard lock(mutex_);
  return masters_.take_change(now);
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

std::string StoreHealth::last_error() const {
  const std::lock_guard lock(mutex_);
  const auto worker = std::ranges::find(workers_, false, &StoreStatus::deciding);
  return worker == workers_.end() ? std::string() : worker->last_error;
}

}  // namespace weir::admin
