#include "admin/store_masters.hpp"

namespace weir::admin {

std::optional<std::string> StoreMasters::take_change(Instant now) {
  if (!logged_) logged_ = present_;
  if (logged_ == present_) return std::nullopt;
  if (*logged_ == *present_) {
    logged_ = present_;
    return std::nullopt;
  }
  if (!limit_.may_log(redis::masters_text(*present_), now)) return std::nullopt;
  std::string text = redis::change_text(*logged_, *present_);
  logged_ = present_;
  return text;
}

}  // namespace weir::admin
