// Attributed window: a fixed window that keeps a list of the requests counted. The list of a
// limited address shows which users caused the limit.
//
// Decides exactly as fixed_window does. Bounded: no more entries than the quota, each attribute cut
// to attribute_bytes. Implements the functions of rules.hpp, and a charge with attributes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// Longer attribute texts are cut, but never within a UTF-8 sequence.
inline constexpr std::size_t attribute_bytes = 128;
/// Returns `text` as an entry keeps it.
std::string_view attribute_text(std::string_view text);

/// One charged request.
struct AttributedEntry {
  Instant at{};
  std::int64_t units = 0;
  std::vector<std::string> attributes;  ///< in the order of the policy's configuration
  friend bool operator==(const AttributedEntry&, const AttributedEntry&) = default;
};

/// A fresh state is empty. The entries of the window, in the order of their charges.
struct AttributedWindowState {
  Instant start{};
  std::int64_t used = 0;
  std::vector<AttributedEntry> entries;
  friend bool operator==(const AttributedWindowState&, const AttributedWindowState&) = default;
};

Admission admit(const Policy& policy, const AttributedWindowState& state, Instant now,
                Demand demand);
void charge(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units,
            std::span<const std::string_view> attributes);
void charge(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units);
/// Takes the units from the newest entries, and removes those that have none left. The window keeps
/// its start; without any use left it has ended.
void refund(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const AttributedWindowState& state, Instant now);
Instant whole_at(const Policy& policy, const AttributedWindowState& state);

}  // namespace weir::rules
