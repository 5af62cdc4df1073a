// Requirements of a configuration on every request, prepared once from it.
//
// Needs no connection and no loop: the connections of a worker and `weir explain` use the same
// rules, and all workers share those of a generation. Immutable, thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "http/field_guard.hpp"
#include "http/request_view.hpp"
#include "limiter/options.hpp"
#include "options/proxy.hpp"
#include "routing/route_table.hpp"

namespace weir::decision {

struct RequestRules {
  /// `owner` keeps both options alive; without one, the caller does.
  RequestRules(const options::Proxy& its_options, const limiter::Options& its_limits,
               std::shared_ptr<const void> its_owner = nullptr);

  const options::Proxy& options;
  const limiter::Options& limits;
  std::shared_ptr<const void> owner;

  std::vector<std::string> kept_fields;  ///< fields that identities, routes and plans read: at most
                                         ///< one of each, and Connection cannot remove them
  http::FieldGuard field_guard;
  routing::RouteTable route_table;

  /// True if one of `kept_fields` appears more than once: the upstream may take the other value.
  bool repeats_read_field(std::span<const http::FieldView> fields) const;
};

}  // namespace weir::decision
