#include "admin/shadow_reload.hpp"

#include <chrono>

#include "base/rfc3339.hpp"

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

void add_members(json::Object& to, const ShadowState& state) {
  to.text("state", to_string(state.stage));
  if (state.stage == ShadowState::Stage::none) return;
  to.text("hash", state.hash)
      .text("until", to_rfc3339(std::chrono::floor<std::chrono::seconds>(state.until)))
      .text("max_flips", percent_text(state.max_flips))
      .number("decisions", static_cast<std::int64_t>(state.decisions))
      .number("flips", static_cast<std::int64_t>(state.flips))
      .number("skipped", static_cast<std::int64_t>(state.skipped));
  if (!state.reason.empty()) to.text("reason", state.reason);
}

}  // namespace weir::admin
