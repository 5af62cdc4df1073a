// The options of the rate limit service: the limits of descriptors, and its answers. Immutable once
// loaded; shared by all workers.
//
// A descriptor is a list of entries (key, value) that a proxy sends about a request
// (envoy/service/ratelimit/v3/rls.proto). Its limits come from files in the format of
// envoyproxy/ratelimit, and from `descriptors`, which name policies of Weir. The limit of a file is
// a policy, too: limiter::Options::policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "rules/policy.hpp"

namespace weir::options {

/// The period of a limit. The numbers are those of RateLimitResponse.RateLimit.Unit.
enum class RateLimitUnit : std::uint8_t {
  unknown = 0,
  second = 1,
  minute = 2,
  hour = 3,
  day = 4,
  month = 5,  ///< 30 days
  year = 6,   ///< 365 days
  week = 7,
};
inline constexpr std::size_t rate_limit_unit_count = 8;

/// Its length, as envoyproxy/ratelimit counts it; unknown: 0.
constexpr Duration length_of(RateLimitUnit unit) {
  constexpr std::chrono::hours day(24);
  switch (unit) {
    case RateLimitUnit::second:
      return std::chrono::seconds(1);
    case RateLimitUnit::minute:
      return std::chrono::minutes(1);
    case RateLimitUnit::hour:
      return std::chrono::hours(1);
    case RateLimitUnit::day:
      return day;
    case RateLimitUnit::week:
      return 7 * day;
    case RateLimitUnit::month:
      return 30 * day;
    case RateLimitUnit::year:
      return 365 * day;
    case RateLimitUnit::unknown:
      break;
  }
  return Duration{0};
}

/// `MINUTE`, as proto3 JSON writes it.
constexpr std::string_view name_of(RateLimitUnit unit) {
  constexpr std::string_view names[rate_limit_unit_count] = {"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                             "DAY",     "MONTH",  "YEAR",   "WEEK"};
  return names[static_cast<std::size_t>(unit)];
}

/// `rate_limit` of a descriptor in a file, with the keys beside it that belong to the limit.
struct DescriptorLimit {
  std::optional<std::size_t> policy{};  ///< index into limiter::Options::policies; none: unlimited
  std::uint32_t requests_per_unit = 0;
  RateLimitUnit unit = RateLimitUnit::unknown;
  /// requests_per_unit is 0: every request is denied, with 0 of 0 left. A policy cannot have this
  /// rate, so that of `policy` is 1 and must not be charged; the rest of it counts (`shadow`).
  bool denies_all = false;
  std::string name{};                   ///< that other limits of a request may replace
  std::vector<std::string> replaces{};  ///< names of limits that do not apply beside this one
  /// Denies a request only if all limits of the request with this flag deny it. Its policy is a
  /// shadow policy.
  bool quota_mode = false;
  bool shadow_mode = false;      ///< stronger than quota_mode: its descriptor is always OK
  bool detailed_metric = false;  ///< counted with the values of the request
  std::string metadata{};        ///< a JSON object for the answer; empty: none
  friend bool operator==(const DescriptorLimit&, const DescriptorLimit&) = default;
};

/// A descriptor of a file.
struct DescriptorNode {
  /// `KEY_VALUE`, or `KEY` for every value. With `*` a pattern: it stands for any characters.
  std::string text;
  std::string key;  ///< the first part of `text`
  /// Values that match the pattern share one count.
  bool share_threshold = false;
  bool value_to_metric = false;  ///< counted with the value of the request
  std::optional<DescriptorLimit> limit{};
  std::vector<DescriptorNode> children{};  ///< for the entry that follows
  friend bool operator==(const DescriptorNode&, const DescriptorNode&) = default;
};

/// The descriptors of all files with this domain. No two of a list have the same `text`.
struct DescriptorDomain {
  std::string name;
  std::vector<DescriptorNode> descriptors{};
  friend bool operator==(const DescriptorDomain&, const DescriptorDomain&) = default;
};

/// An item of `descriptors`: a policy for descriptors that have exactly these entries, in any
/// order.
struct PolicyDescriptor {
  struct Entry {
    std::string key;
    std::optional<std::string> value{};  ///< none: any value (`*`)
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::string domain;
  std::vector<Entry> entries{};
  std::size_t policy = 0;  ///< index into limiter::Options::policies
  /// Keys of entries whose values, in this order, identify the client.
  std::vector<std::string> key{};
  /// Index into limiter::Options::identities: the value of the only key is one of this identity, so
  /// the count is that of requests with it. None: the values are counted for the service alone.
  std::optional<std::size_t> identity{};
  friend bool operator==(const PolicyDescriptor&, const PolicyDescriptor&) = default;
};

struct RateLimitService {
  std::vector<DescriptorDomain> domains{};
  std::vector<PolicyDescriptor> descriptors{};
  /// Index into limiter::Options::identities: the one that stands for the entries of descriptors.
  std::size_t identity = 0;
  /// Index into limiter::Options::policies: the policy of limits that requests state themselves.
  /// They replace its numbers.
  std::size_t stated_policy = 0;
  /// The algorithm of limits that requests state themselves: fixed_window with the clock
  /// (`reference`), gcra or sliding_window.
  rules::Algorithm algorithm = rules::Algorithm::fixed_window;
  /// Each descriptor is charged by itself, whatever the others decide, and a denied one too.
  bool charges_each = false;
  http::ResponseFieldOptions headers{};
  /// Reserve and Commit of Kuadrant: units may be held, so all decisions read holds.
  bool reservations = false;
  bool reference_metrics = false;  ///< also the metrics of envoyproxy/ratelimit, by their names
  double near_limit_ratio = 0.8;   ///< hits above this part of a limit are counted as near
  friend bool operator==(const RateLimitService&, const RateLimitService&) = default;
};

}  // namespace weir::options
