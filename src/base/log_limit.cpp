#include "base/log_limit.hpp"

#include <algorithm>

#include "base/siphash.hpp"

namespace weir {

bool LogLimit::may_log(std::uint64_t subject, Instant now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lines_, [&](const Line& line) { return line.at + options_.repeated_after <= now; });
  const auto recent = std::ranges::count_if(
      lines_, [&](const Line& line) { return now < line.at + options_.interval; });
  if (static_cast<std::size_t>(recent) >= options_.most) return false;
  if (std::ranges::find(lines_, subject, &Line::subject) != lines_.end()) return false;
  lines_.push_back({.subject = subject, .at = now});
  return true;
}

bool LogLimit::may_log(std::string_view subject, Instant now) {
  return may_log(siphash128(SipKey{}, subject).low, now);
}

}  // namespace weir
