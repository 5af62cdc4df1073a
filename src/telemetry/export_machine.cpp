#include "telemetry/export_machine.hpp"

#include <algorithm>

namespace weir::telemetry {
namespace {

constexpr Duration first_pause = std::chrono::seconds(1);
constexpr Duration longest_pause = std::chrono::seconds(30);
constexpr int failures_at_longest = 6;

}  // namespace

Duration pause_after(int failures, std::uint64_t random) {
  const int doublings = std::clamp(failures, 1, failures_at_longest) - 1;
  const Duration whole = std::min(first_pause * (1 << doublings), longest_pause);
  const auto jitter = static_cast<std::uint64_t>(whole.count() / 2 + 1);
  return whole - Duration{static_cast<std::int64_t>(random % jitter)};
}

void ExportMachine::set_interval(Duration interval, Instant now) {
  if (interval_ == interval) return;
  interval_ = interval;
  due_at_ = now + interval;
}

ExportMachine::Action ExportMachine::next(Instant now, bool has_batch) {
  if (state_ == State::sending || now < not_before_) return Action::nothing;
  if (state_ == State::retrying) {
    state_ = State::sending;
    return Action::resend;
  }
  return has_batch || now >= due_at_ ? Action::take : Action::nothing;
}

void ExportMachine::sent(Instant now) {
  state_ = State::sending;
  first_sent_at_ = now;
  due_at_ = now + interval_;
}

ExportMachine::Ending ExportMachine::ended(ExportOutcome outcome,
                                           std::optional<Duration> retry_after, Instant now,
                                           std::uint64_t random) {
  state_ = State::idle;
  if (outcome != ExportOutcome::retryable) {
    failures_ = 0;
    if (outcome == ExportOutcome::rejected) not_before_ = now + first_pause;
    return outcome == ExportOutcome::accepted ? Ending::done : Ending::given_up;
  }
  failures_ = std::min(failures_ + 1, failures_at_longest);
  not_before_ =
      now + std::min(retry_after.value_or(pause_after(failures_, random)), longest_retry_after);
  if (not_before_ > first_sent_at_ + patience) return Ending::given_up;
  state_ = State::retrying;
  return Ending::retries;
}

}  // namespace weir::telemetry
