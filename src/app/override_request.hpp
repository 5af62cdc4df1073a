// Requests to /v1/overrides and /v1/limits as values: whose key, and what an override changes under
// the running configuration. Pure; thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "limiter/policy.hpp"
#include "store/override.hpp"

namespace weir::app {

/// An identity and a key, as written. Empty: it is left out.
struct OverrideOwner {
  std::string_view identity;
  std::string_view key;  ///< its value, or hash:HEX
};

struct OverrideKey {
  std::string identity;  ///< its name; empty if the key is a hash and no identity is named
  Hash128 hash;
};

/// Finds the only key that requests with this value have. A problem states which member is wrong,
/// and what to write; it does not contain the value.
Result<OverrideKey> find_override_key(const OverrideOwner& written, const config::Config& config);

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

/// Returns why the override has no effect on any route, with what to do; empty if it may have one.
/// If the key is a hash and no identity is named, only the policy is looked for.
std::string ineffective_because(const OverridePut& put, const config::Config& config);

/// The parameters of /v1/overrides, of all methods but PUT.
inline constexpr std::array<std::string_view, 3> override_parameters{"identity", "key", "policy"};
/// The parameters of /v1/limits.
inline constexpr std::array<std::string_view, 4> limit_parameters{"identity", "key", "policy",
                                                                  "plan"};

/// The query of GET and DELETE.
struct OverrideQuery {
  std::optional<Hash128> key{};
  std::string policy{};  ///< empty: none is named
};
/// `lists`: of GET. Then a key is not needed, and the policy must exist; DELETE needs a key, and
/// may name a policy that the configuration no longer has.
Result<OverrideQuery> read_override_query(std::string_view query, const OverrideContext& context,
                                          bool lists);

/// The query of /v1/limits: one key under one policy.
struct LimitQuery {
  OverrideKey key;
  const limiter::Policy* policy = nullptr;  ///< of the configuration
  std::uint32_t policy_id = 0;
  /// The plan that is named, else that of the key in a file of plans, else the default; empty:
  /// there is none. A view into the configuration.
  std::string_view plan{};
  /// The terms under this plan; nullptr: those of the policy.
  const limiter::PlannedTerms* planned = nullptr;

  /// Under the plan the policy does not limit.
  bool is_exempt() const { return planned != nullptr && planned->unlimited; }
};
/// The policy may be left out if limits of routes have only one.
Result<LimitQuery> read_limit_query(std::string_view query, const OverrideContext& context);

}  // namespace weir::app
