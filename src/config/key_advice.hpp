// Hints about keys: where a key that is in the wrong section belongs, and what another program's
// key is called here.
//
// Keys are named by their shape: the path with [] for every index and * for every name that the
// operator chose, as known_keys() lists them. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

/// The shape of a path: `policies.*.rate` of policies.per_client.rate, `routes[].limits` of
/// routes[3].limits.
std::string shape_of(std::string_view path);

/// Returns the fix for the unknown key `key` of the map with this shape; empty if it is not known
/// from elsewhere. Begins with "; ".
std::string key_advice(std::string_view map_shape, std::string_view key);

}  // namespace weir::config
