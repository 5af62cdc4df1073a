// Requirements of a configuration on every request, prepared once from it.
//
// Needs no connection and no loop: the connections of a worker and `weir explain` use the same
// rules. Immutable, thread-safe. The configuration has to outlive it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "http/field_guard.hpp"
#include "http/request_view.hpp"
#include "proxy/settings.hpp"
#include "routing/route_table.hpp"

namespace weir::proxy {

struct RequestRules {
  explicit RequestRules(const Settings& config);

  std::vector<std::string> kept_fields;  ///< fields that identities, routes and plans read: at most
                                         ///< one of each, and Connection cannot remove them
  http::FieldGuard field_guard;
  routing::RouteTable route_table;

  /// True if one of `kept_fields` appears more than once: the upstream may take the other value.
  bool repeats_read_field(std::span<const http::FieldView> fields) const;
};

}  // namespace weir::proxy
