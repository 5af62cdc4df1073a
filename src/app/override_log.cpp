#include "app/override_log.hpp"

namespace weir::app {

std::optional<std::string> OverrideLog::malformed(std::string_view policy, const Hash128& identity,
                                                  Instant now) {
  constexpr Duration interval = std::chrono::minutes(1);
  const std::lock_guard lock(mutex_);
  if (logged_at_ && now < *logged_at_ + interval) return std::nullopt;
  logged_at_ = now;
  std::string line = "override of policy ";
  line.append(policy).append(" for hash:");
  append_hex(line, identity);
  return line +=
         " cannot be read, or the policy's algorithm has changed; using the policy's own "
         "numbers. Put or delete the override again";
}

}  // namespace weir::app
