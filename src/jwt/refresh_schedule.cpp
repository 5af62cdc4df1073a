#include "jwt/refresh_schedule.hpp"

#include <algorithm>

namespace weir::jwt {
namespace {

/// Between 0 and a tenth of `span`.
Duration jitter(Duration span, std::uint64_t random) {
  const auto choices = static_cast<std::uint64_t>(to_us(span) / 10) + 1;
  return Duration{static_cast<std::int64_t>(random % choices)};
}

/// `first`, doubled for each failure after the first one, up to `most`.
Duration backoff(Duration first, Duration most, int failures) {
  Duration wait = first;
  for (int i = 1; i < failures && wait < most; ++i)
    wait *= 2;
  return std::min(wait, most);
}

}  // namespace

bool RefreshSchedule::start_if_due(Instant now) {
  const auto due_at = next_at();
  if (!due_at || now < *due_at) return false;
  is_fetching_ = true;
  return true;
}

void RefreshSchedule::succeeded(Instant now, std::optional<Duration> fresh_for,
                                std::uint64_t random) {
  const Duration lifetime =
      std::clamp(fresh_for.value_or(times_.refresh), times_.cooldown, times_.refresh);
  is_fetching_ = false;
  has_keys_ = true;
  is_key_unknown_ = false;
  failures_ = 0;
  ended_at_ = now;
  planned_at_ = now + std::max(times_.cooldown, lifetime - jitter(lifetime, random));
}

void RefreshSchedule::failed(Instant now, std::uint64_t random) {
  is_fetching_ = false;
  is_key_unknown_ = false;
  failures_ += failures_ < 64 ? 1 : 0;
  ended_at_ = now;
  const Duration longest = std::min(times_.cooldown, longest_retry_after);
  const Duration wait =
      has_keys_ ? times_.cooldown : backoff(first_retry_after, longest, failures_);
  planned_at_ = now + wait + jitter(wait, random);
}

void RefreshSchedule::note_unknown_key() {
  is_key_unknown_ = !is_fetching_ && has_keys_;
}

void RefreshSchedule::set(RefreshTimes times) {
  times_ = times;
  if (has_keys_ && failures_ == 0) planned_at_ = std::min(planned_at_, ended_at_ + times.refresh);
}

void RefreshSchedule::retry_now(Instant now) {
  if (failures_ > 0) planned_at_ = std::min(planned_at_, now);
}

std::optional<Instant> RefreshSchedule::next_at() const {
  if (is_fetching_) return std::nullopt;
  if (!is_key_unknown_) return planned_at_;
  return std::min(planned_at_, ended_at_ + times_.cooldown);
}

}  // namespace weir::jwt
