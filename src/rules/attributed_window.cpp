#include "rules/attributed_window.hpp"

#include "rules/window.hpp"

namespace weir::rules {

namespace {

AttributedEntry entry_of(Instant now, std::int64_t units,
                         std::span<const std::string_view> attributes) {
  AttributedEntry entry{.at = now, .units = units, .attributes = {}};
  entry.attributes.reserve(attributes.size());
  for (const std::string_view attribute : attributes)
    entry.attributes.emplace_back(attribute_text(attribute));
  return entry;
}

}  // namespace

std::string_view attribute_text(std::string_view text) {
  if (text.size() <= attribute_bytes) return text;
  std::size_t size = attribute_bytes;
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  // A UTF-8 sequence has at most four bytes; a longer run of continuation bytes is not UTF-8.
  while (size > attribute_bytes - 3 && continues(size))
    --size;
  return text.substr(0, continues(size) ? attribute_bytes : size);
}

Admission admit(const Policy& policy, const AttributedWindowState& state, Instant now,
                Demand demand) {
  return admit_in_window(policy, state, now, demand);
}

void charge(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units,
            std::span<const std::string_view> attributes) {
  std::int64_t used = used_at(policy, state, now);
  const std::int64_t taken = std::min(units, policy.capacity - std::min(used, policy.capacity));
  if (taken <= 0) return;
  const bool is_first = used == 0 || state.entries.empty();
  const Instant latest = is_first ? now : std::max(now, state.entries.back().at);
  AttributedEntry entry = entry_of(latest, taken, attributes);
  if (used == 0) {
    state.start = window_start(policy, now);
    state.used = 0;
    state.entries.clear();
  }
  state.entries.push_back(std::move(entry));
  state.used = used + taken;
}

void charge(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units) {
  charge(policy, state, now, units, {});
}

void refund(const Policy& policy, AttributedWindowState& state, Instant now, std::int64_t units) {
  std::int64_t rest = std::min(units, used_at(policy, state, now));
  while (rest > 0 && !state.entries.empty()) {
    AttributedEntry& newest = state.entries.back();
    const std::int64_t taken = std::min(rest, newest.units);
    newest.units -= taken;
    state.used -= taken;
    rest -= taken;
    if (newest.units == 0) state.entries.pop_back();
  }
}

Level level(const Policy& policy, const AttributedWindowState& state, Instant now) {
  return level_of_window(policy, state, now);
}

Instant whole_at(const Policy& policy, const AttributedWindowState& state) {
  return end_of_window(policy, state);
}

}  // namespace weir::rules
