// The part of a route that selects its requests.
#pragma once

#include <string>

#include "routing/matcher.hpp"

namespace weir::routing {

struct Route {
  std::string name;  ///< configured, or its path pattern, or "route-N"
  Match match;
  bool encoded_slashes = false;  ///< accepts %2F in paths, matched in both readings; else 400
  bool double_encoding = false;  ///< accepts %25 and two digits in paths; else 400
  bool decide = false;           ///< matched with the request that another proxy describes
  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace weir::routing
