#include "app/event_questions.hpp"

#include <algorithm>

namespace weir::app {

store::EventMark mark_of(const limiter::QuotaEvent& event, std::string name, Instant now) {
  const limiter::EventWindow& window = event.window;
  const Duration ends_after = window.ends_at - now;
  // An instance may read the end of a window later than this one.
  const Duration margin =
      std::min(window.ends_at - window.earlier_until, 2 * EventQuestions::patience);
  return {.identity = event.key.identity,
          .policy = std::move(name),
          .percent = event.percent,
          .ends_after = ends_after,
          .earlier_until = window.earlier_until - now,
          .kept_for = std::max(ends_after, Duration{0}) + margin};
}

}  // namespace weir::app
