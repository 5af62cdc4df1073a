// Weir's own log: replays what it has instead of what a request had.
//
// A line has the route, the plan, the hash of an identity, and the units that were held and
// charged, but not the fields from which Weir found them. The head of such a request has fields
// with these, whose names no client uses, and a copy of the configuration reads them. So a hash is
// an identity like any other, and routes, plans and limits are decided by the same code. Pure.
#pragma once

#include <string>
#include <string_view>

#include "limiter/options.hpp"
#include "options/proxy.hpp"
#include "replay/logged_request.hpp"

namespace weir::replay {

/// A configuration that reads these fields, and what the original reads if they are absent. Routes
/// with conditions that the log does not have are found by their names; such routes come twice.
struct OwnLogConfiguration {
  options::Proxy proxy;
  limiter::Options limits;

  OwnLogConfiguration(const options::Proxy& its_proxy, const limiter::Options& its_limits);
};

/// Appends the lines of these fields to a head. `method`: of the request.
void append_own_fields(std::string& head, const OwnRecord& own, std::string_view method);

/// The field of the response that states what this policy charged.
std::string cost_field(std::string_view policy);

}  // namespace weir::replay
