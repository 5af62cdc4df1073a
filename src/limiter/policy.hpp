// Policies, and the limits that apply them to requests.
//
// Made once when a configuration is loaded, then read by all workers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "http/field_section.hpp"
#include "identity/identity.hpp"
#include "limiter/charge.hpp"
#include "limiter/condition.hpp"
#include "rules/policy.hpp"
#include "store/claim.hpp"

namespace weir::limiter {

/// A body of the response to a denied request.
struct DenialBody {
  std::string content_type;
  std::optional<std::string> text;  ///< nothing: the problem document of the denial
  friend bool operator==(const DenialBody&, const DenialBody&) = default;
};

/// The parts of the response to a denied request that the configuration sets.
struct Denial {
  /// By preference: the Accept field of the request chooses among several. Empty: the problem
  /// document.
  std::vector<DenialBody> bodies{};
  http::FieldSection fields{{"Cache-Control", "no-store"}};
  friend bool operator==(const Denial&, const Denial&) = default;
};

using store::least_leased_units;
using store::OnFailure;

/// An attribute of the entries of an attributed window.
struct Attribute {
  enum class Kind : std::uint8_t { client_address, method, path, header, query, identity, claim };
  Kind kind = Kind::client_address;
  std::string text;         ///< as configured: `header:user-agent`
  std::string name;         ///< after the colon; empty for client_address, method and path
  identity::Source source;  ///< where it is read from; not used for method and path
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// The largest number of attributes of a policy; the loader refuses more.
inline constexpr std::size_t attribute_limit = 8;

/// The numbers that a request is decided with: those of the policy, or of a plan that replaces
/// them.
struct Terms {
  rules::Policy numbers;
  std::string policy_item;         ///< ready for RateLimit-Policy
  rules::Definition definition{};  ///< as configured
  friend bool operator==(const Terms&, const Terms&) = default;
};

/// The terms of a policy under a plan.
struct PlannedTerms {
  std::size_t plan = 0;    ///< index into Plans::names
  bool unlimited = false;  ///< the policy limits the request only if there is an override
  Terms terms;             ///< if there is
  friend bool operator==(const PlannedTerms&, const PlannedTerms&) = default;
};

/// Its terms are those of the policy itself.
struct Policy : Terms {
  std::string name;
  std::int64_t cost = 1;
  bool shadow = false;
  bool visible = true;  ///< shown to clients: headers is not false, and mode is not shadow
  int status = 429;
  Denial denial{};
  bool charges_preflight = false;     ///< applies to CORS preflight requests, too
  std::vector<Attribute> attributes;  ///< attributed_window
  OnFailure on_failure = OnFailure::local;
  /// An instance may hold units of hot keys in advance (store/leases.hpp).
  bool lease = false;
  /// concurrency: requests of a key that may wait for a slot, on this instance.
  std::int64_t queue = 0;
  Duration max_wait{1'000'000};         ///< the longest wait for a slot
  std::string name_item;                ///< ready for RateLimit
  std::vector<PlannedTerms> planned{};  ///< of the plans that change it, by increasing plan

  /// The terms under this plan; nullptr: those of the policy itself.
  const PlannedTerms* under(std::size_t plan) const {
    const auto found = std::ranges::lower_bound(planned, plan, {}, &PlannedTerms::plan);
    return found == planned.end() || found->plan != plan ? nullptr : &*found;
  }
  /// The terms in force. A plan without a limit leaves those of the policy to an override.
  const Terms& terms_of(const PlannedTerms* terms) const {
    return terms == nullptr || terms->unlimited ? *this : terms->terms;
  }
  /// The index of these terms: 0 for its own (nullptr), 1 + i for those of planned[i].
  std::size_t index_of(const PlannedTerms* terms) const {
    return terms == nullptr ? 0 : 1 + static_cast<std::size_t>(terms - planned.data());
  }
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// One limit of a route, with indexes into Options::policies and Options::identities.
struct Limit {
  std::size_t policy = 0;
  std::size_t identity = 0;
  std::optional<std::size_t> otherwise{};  ///< identity to use if the first is absent
  bool required = false;                   ///< absent: 401
  std::int64_t cost = 1;
  bool overdraft = false;
  std::optional<Charge> charge{};     ///< the cost is held until the request ends
  std::optional<Condition> when{};    ///< the limit applies only if it holds
  std::optional<Condition> unless{};  ///< the limit does not apply if it holds
  friend bool operator==(const Limit&, const Limit&) = default;
};

inline bool is_concurrency(const Policy& policy) {
  return policy.numbers.algorithm == rules::Algorithm::concurrency;
}

/// True if the cost is held until the request has ended.
inline bool holds_cost(const Limit& limit, const Policy& policy) {
  return limit.charge || is_concurrency(policy);
}

/// True if requests under this limit may be decided from a lease.
inline bool is_leasable(const Limit& limit, const Policy& policy) {
  return policy.lease && !holds_cost(limit, policy) && !limit.overdraft;
}

/// The largest number of limits of a route; the loader refuses more.
inline constexpr std::size_t limits_per_route = 16;

}  // namespace weir::limiter
