#include "admin/undecided_requests.hpp"

namespace weir::admin {
namespace {

constexpr Duration logged_after = std::chrono::seconds(10);
constexpr Duration undecided_log_interval = std::chrono::minutes(1);

}  // namespace

void UndecidedRequests::add(const Counts& counts, Instant now) {
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    counts_[kind] += counts[kind];
    if (counts[kind] > 0 && !first_at_) first_at_ = now;
  }
}

std::optional<UndecidedRequests::Report> UndecidedRequests::take_due(Instant now) {
  if (!first_at_ || now - *first_at_ < logged_after) return std::nullopt;
  if (logged_at_ && now - *logged_at_ < undecided_log_interval) return std::nullopt;
  return take(now);
}

std::optional<UndecidedRequests::Report> UndecidedRequests::take(Instant now) {
  if (!first_at_) return std::nullopt;
  const Report report{.counts = counts_, .within = now - *first_at_};
  counts_ = {};
  first_at_.reset();
  logged_at_ = now;
  return report;
}

}  // namespace weir::admin
