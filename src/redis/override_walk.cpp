#include "redis/override_walk.hpp"

namespace weir::redis {

std::vector<Hash128> OverrideWalk::take(std::string_view next_cursor,
                                        std::span<const Hash128> identities) {
  cursor_ = next_cursor;
  is_complete_ = next_cursor == "0";
  ++pages_;
  std::vector<Hash128> found;
  for (const Hash128& identity : identities) {
    if (found_.insert(identity).second) found.push_back(identity);
  }
  return found;
}

}  // namespace weir::redis
