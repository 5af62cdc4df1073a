#include "app/override_log.hpp"

#include <algorithm>

namespace weir::app {

std::optional<std::string> OverrideLog::malformed(std::string_view policy, const Hash128& identity,
                                                  Instant now) {
  const std::lock_guard lock(mutex_);
  if (!logged_.empty() && now < logged_.back().at + interval) return std::nullopt;
  std::erase_if(logged_, [now](const Logged& one) { return one.at + repeated_after <= now; });
  const bool is_known = std::ranges::any_of(
      logged_, [&](const Logged& one) { return one.identity == identity && one.policy == policy; });
  if (is_known) return std::nullopt;
  logged_.push_back({.identity = identity, .policy = std::string(policy), .at = now});
  std::string line = "override of policy ";
  line.append(policy).append(" for hash:");
  append_hex(line, identity);
  return line +=
         " cannot be read, or the policy's algorithm has changed; using the policy's own "
         "numbers. Put or delete the override again";
}

}  // namespace weir::app
