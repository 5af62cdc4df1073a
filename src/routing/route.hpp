// Which requests a route is for.
#pragma once

#include <string>

#include "routing/matcher.hpp"

namespace weir::routing {

struct Route {
  std::string name;  ///< configured, or its path pattern, or "route-N"
  Match match;
  bool encoded_slashes = false;  ///< serves paths with %2F, matched in both readings; else 400
  bool double_encoding = false;  ///< serves paths with %25 and two digits; else 400
  bool decide = false;           ///< matched with the request that another proxy describes
  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace weir::routing
