#include "offline/request.hpp"

#include <algorithm>
#include <new>

namespace weir::offline {

bool Request::call() noexcept {
  try {
    called_.push_back(this);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // the next poll or release finds it
  }
}

std::optional<Instant> Request::step_after(Instant due) const {
  const auto step =
      std::ranges::find_if(steps_, [&](Instant at) { return at >= due && at > stepped_at_; });
  if (step == steps_.end() || *step - due > latest_step_) return std::nullopt;
  return *step;
}

}  // namespace weir::offline
