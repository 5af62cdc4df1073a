#include "status/window.hpp"

#include <chrono>
#include <utility>

namespace weir::status {
namespace {

using namespace std::chrono_literals;

constexpr Duration least_age = 1s;
constexpr Duration usual_age = 5s;  // of the newer of the two when it replaces the older
constexpr Duration greatest_usual_age = 2 * usual_age;
constexpr Duration greatest_age = 1min;
constexpr Duration least_recent = 500ms;

bool gives_rates(const std::optional<Status>& earlier, Instant now) {
  return earlier && now - earlier->at >= least_age && now - earlier->at <= greatest_age;
}

}  // namespace

bool Window::is_measured_at(Instant now) const {
  return gives_rates(base_, now) || gives_rates(next_, now);
}

WindowReport Window::add(Status now) {
  const Instant at = now.at;
  const TrafficSum sum = sum_of(now);
  if (!next_ || at < next_->at || at - next_->at > greatest_age) {
    std::optional<Status> next(now);  // a copy that fails changes nothing
    std::optional<Status> base = next;
    base_ = std::move(base);
    next_ = std::move(next);
    previous_.reset();
  } else if (at - next_->at >= usual_age) {
    std::optional<Status> next(now);
    base_ = std::move(next_);
    next_ = std::move(next);
  } else if (at - base_->at > greatest_usual_age && at - next_->at >= least_age) {
    base_ = next_;
  }
  const bool is_soon = previous_ && at >= previous_->at && at - previous_->at < least_recent;
  const bool has_previous = previous_ && !is_soon && at > previous_->at;
  WindowReport made{.report = compare(gives_rates(base_, at) ? &*base_ : nullptr, std::move(now)),
                    .recent = traffic_between(has_previous ? &*previous_ : nullptr, sum),
                    .recent_over = has_previous ? std::optional(at - previous_->at) : std::nullopt};
  if (!is_soon) previous_ = sum;
  return made;
}

}  // namespace weir::status
