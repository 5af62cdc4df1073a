// Numbers, rates and keys of a report in the words of a person. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "replay/report.hpp"

namespace weir::replay {

/// `1,234,567`.
std::string grouped(std::uint64_t number);

/// `1.2 %`, rounded; a share that is not 0 is not shown as 0.
std::string share_of(std::uint64_t part, std::uint64_t whole);

/// `1s`, in the largest unit that divides it.
std::string length_of(Duration duration);

/// `110/1s`, or `4 at once` without a window.
std::string peak_of(const KeyReport& key);

/// `10/1s`, as the configuration has it; several tiers: `[10/1s, 100/1m]`.
std::string rate_of(const RateReport& rate);

/// `rate: 10/1s`, or `rates: [10/1s, 100/1m]`.
std::string setting_of(const RateReport& rate);

/// The policy, with its plan: `per_user (plan gold)`.
template <class Report>
std::string policy_of(const Report& report) {
  return report.policy + (report.plan ? " (plan " + *report.plan + ")" : std::string());
}

/// Its address, or `hash:HEX`.
template <class Key>
std::string name_of(const Key& key) {
  return key.address.value_or("hash:" + to_hex(key.hash));
}

/// `0.1`: a share in millionths, in per cent.
std::string percent_of(std::int64_t share);

/// Describes the suggestions, without a full stop.
std::string heading_of(const Suggestions& suggestions);

/// The settings of a suggestion: `rate: 10/1s`, or `rate: 10/1s, no burst`.
std::string settings_of(const Suggestion& suggestion, const RateReport& rate);

/// Describes why there is no rate, or which other setting goes with it; empty: nothing to remark.
std::string remark_of(const Suggestion& suggestion);

/// Describes the treatment of secrets that differ; empty: they are the same.
std::string_view secrets_of(const FlipReport& flips);

}  // namespace weir::replay
