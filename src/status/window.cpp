#include "status/window.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace weir::status {
namespace {

using namespace std::chrono_literals;

constexpr Duration least_age = 1s;
constexpr Duration usual_age = 5s;  // of the newer of the two when it replaces the older
constexpr Duration greatest_usual_age = 2 * usual_age;
constexpr Duration greatest_age = 1min;
constexpr Duration least_recent = 500ms;

template <class Earlier>
bool gives_rates(const std::optional<Earlier>& earlier, Instant now) {
  return earlier && now - earlier->status.at >= least_age &&
         now - earlier->status.at <= greatest_age;
}

}  // namespace

bool Window::is_measured_at(Instant now) const {
  return gives_rates(base_, now) || gives_rates(next_, now);
}

/// Moves the routes and policies of the status to the lists, and counts the traffic.
void Window::take_lists(Status& now) {
  if (now.route_places) {
    for (std::size_t i = 0; i < now.routes.size(); ++i) {
      const std::size_t place = (*now.route_places)[i];
      traffic_.subtract(lists_.routes.now()[place]);
      traffic_.add(now.routes[i]);
      lists_.routes.set(place, std::move(now.routes[i]));
    }
  } else {
    lists_.routes.replace(std::exchange(now.routes, {}));
    traffic_ = {};
    for (const Route& route : lists_.routes.now())
      traffic_.add(route);
  }
  traffic_.at = now.at;
  if (now.policy_places) {
    for (std::size_t i = 0; i < now.policies.size(); ++i)
      lists_.policies.set((*now.policy_places)[i], std::move(now.policies[i]));
  } else {
    lists_.policies.replace(std::exchange(now.policies, {}));
  }
  now.routes.clear();
  now.policies.clear();
}

WindowReport Window::add(Status now) {
  const Instant at = now.at;
  take_lists(now);
  if (!next_ || at < next_->status.at || at - next_->status.at > greatest_age) {
    next_ = base_ = Earlier{.status = now, .traffic = traffic_};
    lists_.routes.restart();
    lists_.policies.restart();
    previous_.reset();
  } else if (at - next_->status.at >= usual_age) {
    Earlier next{.status = now, .traffic = traffic_};
    base_ = std::exchange(next_, std::move(next));
    lists_.routes.advance();
    lists_.policies.advance();
  } else if (at - base_->status.at > greatest_usual_age && at - next_->status.at >= least_age) {
    base_ = next_;
    lists_.routes.join();
    lists_.policies.join();
  }
  const Earlier* const earlier = gives_rates(base_, at) ? &*base_ : nullptr;
  const bool is_soon = previous_ && at >= previous_->at && at - previous_->at < least_recent;
  const bool has_previous = previous_ && !is_soon && at > previous_->at;
  WindowReport made{
      .report =
          compare(earlier == nullptr ? nullptr : &earlier->status, std::move(now), lists_,
                  traffic_between(earlier == nullptr ? nullptr : &earlier->traffic, traffic_)),
      .recent = traffic_between(has_previous ? &*previous_ : nullptr, traffic_),
      .recent_over = has_previous ? std::optional(at - previous_->at) : std::nullopt};
  if (!is_soon) previous_ = traffic_;
  return made;
}

}  // namespace weir::status
