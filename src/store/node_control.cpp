#include "store/node_control.hpp"

#include <algorithm>

namespace weir::store {
namespace {

constexpr double factor_if_slow = 0.85;
constexpr double factor_if_too_late = 0.5;

}  // namespace

NodeControl::Permission NodeControl::permission(Instant now, std::size_t in_flight) {
  if (state_ == State::closed) {
    if (in_flight < limit()) {
      granted_at_ = now;
      return Permission::granted;
    }
    // Without another question nothing can time out, so the silence is noticed here.
    if (now < std::max(granted_at_, replied_at_) + options_.timeout) return Permission::limited;
    is_silent_ = true;
    open(now);
    return Permission::refused;
  }
  if (state_ == State::half_open || now < opened_at_ + options_.retry_after)
    return Permission::refused;
  state_ = State::half_open;
  tested_at_ = now;
  return Permission::granted;
}

void NodeControl::on_replies(Instant now) {
  replied_at_ = now;
  if (!is_silent_ && !is_unconnected_) return;
  resumed_at_ = now;
  if (is_silent_) state_ = State::closed;
  if (is_unconnected_) opened_at_ = now - options_.retry_after;  // the test is due
  is_silent_ = is_unconnected_ = false;
}

void NodeControl::on_no_connection(Instant now) {
  if (state_ != State::closed && !is_silent_) return;
  is_unconnected_ = true;
  is_silent_ = false;
  open(now);
}

void NodeControl::on_decision(const Sent& sent, Instant now) {
  if (is_of_the_past(sent)) return;
  state_ = State::closed;
  is_silent_ = false;
  failures_ = 0;
  if (sent.at < resumed_at_) return;
  const Duration latency = now - sent.at;
  least_latency_ = sent.in_flight <= least_limit ? latency : std::min(least_latency_, latency);
  if (latency <= wanted_latency()) return grow(sent, latency);
  reduce(sent, now, static_cast<double>(sent.in_flight) * factor_if_slow);
}

void NodeControl::on_error(const Sent& sent, Instant now) {
  if (is_of_the_past(sent)) return;
  if (state_ == State::half_open) return open(now);
  if (failures_ > 0 && sent.at < failed_at_) return;
  failed_at_ = now;
  if (++failures_ < options_.failures) return;
  failures_ = 0;
  open(now);
}

/// The first question of a burst found few others in flight, so those that came later count too.
void NodeControl::on_timeout(const Sent& sent, Instant now, std::size_t in_flight) {
  if (is_of_the_past(sent)) return;
  const bool is_silent = replied_at_ <= sent.at;
  if (state_ == State::closed && !is_silent) {
    const std::size_t most = std::max(sent.in_flight, in_flight);
    return reduce(sent, now, static_cast<double>(most) * factor_if_too_late);
  }
  is_silent_ = is_silent;
  open(now);
}

/// While it is open only the question that tests the server counts.
bool NodeControl::is_of_the_past(const Sent& sent) const {
  if (state_ == State::half_open) return sent.at < tested_at_;
  return state_ == State::open;
}

void NodeControl::open(Instant now) {
  state_ = State::open;
  opened_at_ = now;
}

/// In a round trip the limit grows by about half while the latency is small, and by about a quarter
/// of a question otherwise. A limit that is not used stays: the latency does not show whether Redis
/// could answer more.
void NodeControl::grow(const Sent& sent, Duration latency) {
  if (!is_crowded(sent.in_flight)) return;
  const Duration small = least_latency_ + (wanted_latency() - least_latency_) / 4;
  limit_ = std::min(limit_ + (latency <= small ? 1.0 : 0.5 / limit_), double{greatest_limit});
}

void NodeControl::reduce(const Sent& sent, Instant now, double wanted) {
  if (sent.at < reduced_at_ || sent.at < resumed_at_) return;
  reduced_at_ = now;
  limit_ = std::max(std::min(limit_, wanted), double{least_limit});
}

}  // namespace weir::store
