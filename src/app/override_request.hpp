// Requests to /v1/overrides as values: whose override, and what it changes. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "store/override.hpp"

namespace weir::app {

/// The configuration that a request refers to.
struct OverrideContext {
  const config::Config& config;
  const std::vector<std::string>& policy_names;  ///< by id
};

/// An override to put.
struct OverridePut {
  std::string identity{};  ///< its name; empty if the key is a hash and none is named
  Hash128 key{};
  store::Override entry{};
};

/// Reads the body of PUT: a JSON object. A problem states which member is wrong, and what to write.
Result<OverridePut> read_override(std::string_view body, const OverrideContext& context,
                                  Instant now);

/// The query of GET and DELETE.
struct OverrideQuery {
  std::optional<Hash128> key{};
  std::string policy{};  ///< empty: none is named
};
/// `lists`: of GET. Then a key is not needed, and the policy must exist; DELETE needs a key, and
/// may name a policy that the configuration no longer has.
Result<OverrideQuery> read_override_query(std::string_view query, const OverrideContext& context,
                                          bool lists);

}  // namespace weir::app
