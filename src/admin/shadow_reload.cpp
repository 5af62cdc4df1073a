#include "admin/shadow_reload.hpp"

#include <chrono>

#include "base/rfc3339.hpp"
#include "status/json.hpp"

namespace weir::admin {

std::string_view to_string(ShadowState::Stage stage) {
  switch (stage) {
    case ShadowState::Stage::shadow:
      return "shadow";
    case ShadowState::Stage::done:
      return "done";
    case ShadowState::Stage::dropped:
      return "dropped";
    case ShadowState::Stage::none:
      break;
  }
  return "none";
}

std::string percent_text(std::int64_t millionths) {
  constexpr std::int64_t percent = 10'000;
  std::string text = std::to_string(millionths / percent);
  if (const std::int64_t rest = millionths % percent; rest != 0) {
    std::string decimals = std::to_string(percent + rest).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += '.' + decimals;
  }
  return text + '%';
}

status::ShadowReload shadow_status(const ShadowState& state) {
  status::ShadowReload shown{.state = std::string(to_string(state.stage))};
  if (state.stage == ShadowState::Stage::none) return shown;
  shown.hash = state.hash;
  shown.until = to_rfc3339(std::chrono::ceil<std::chrono::seconds>(state.until));
  shown.max_flips = percent_text(state.max_flips);
  shown.decisions = state.decisions;
  shown.flips = state.flips;
  shown.skipped = state.skipped;
  shown.reason = state.reason;
  return shown;
}

void add_members(json::Object& to, const ShadowState& state) {
  status::add_members(to, shadow_status(state));
}

}  // namespace weir::admin
