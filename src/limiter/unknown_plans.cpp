#include "limiter/unknown_plans.hpp"

#include <algorithm>

#include "base/siphash.hpp"
#include "base/utf8.hpp"

namespace weir::limiter {
namespace {

/// True for a well-formed sequence that a terminal shows: not a control character (C0, DEL, C1), a
/// quote, a line separator, or a character that changes the direction of text (Unicode UAX #9) or
/// is invisible. All of these are below U+10000.
bool is_shown(std::string_view sequence) {
  if (sequence.size() == 1) return sequence[0] >= ' ' && sequence[0] < '\x7f' && sequence[0] != '"';
  const auto bits = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]) & 0x3fU; };
  if (sequence.size() == 2) {  // U+0080 to U+009F, and the soft hyphen
    const unsigned code = (static_cast<unsigned char>(sequence[0]) & 0x1fU) << 6 | bits(1);
    return code >= 0xa0 && code != 0xad && code != 0x61c;
  }
  if (sequence.size() > 3) return true;
  const unsigned code =
      (static_cast<unsigned char>(sequence[0]) & 0x0fU) << 12 | bits(1) << 6 | bits(2);
  return (code < 0x200b || code > 0x200f) && (code < 0x2028 || code > 0x202e) &&
         (code < 0x2060 || code > 0x206f) && code != 0xfeff;
}

}  // namespace

void UnknownPlans::note(std::string_view name, std::size_t source) noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  if (name.empty()) return;
  const std::uint64_t hash = siphash128({.k0 = source}, name).low | 1;
  for (auto& seen : seen_) {
    std::uint64_t known = seen.load(std::memory_order_relaxed);
    if (known == hash) return;
    if (known != 0) continue;
    if (seen.compare_exchange_strong(known, hash, std::memory_order_relaxed))
      return keep(name, source);
    if (known == hash) return;
  }
  is_full_.store(true, std::memory_order_relaxed);
}

void UnknownPlans::keep(std::string_view name, std::size_t source) noexcept {
  const std::lock_guard lock{mutex_};
  if (fresh_count_ == fresh_.size()) return;
  Kept& to = fresh_[fresh_count_++];
  to.size = 0;
  to.source = source;
  while (!name.empty()) {
    const Utf8Step step = next_utf8(name);
    const std::string_view sequence = name.substr(0, step.length);
    const std::string_view shown = step.well_formed && is_shown(sequence) ? sequence : "?";
    if (to.size + shown.size() > to.text.size()) return;
    std::ranges::copy(shown, to.text.begin() + static_cast<std::ptrdiff_t>(to.size));
    to.size += shown.size();
    name.remove_prefix(step.length);
  }
}

UnknownPlans::Names UnknownPlans::take() {
  Names names;
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < fresh_count_; ++i)
    names.fresh.push_back(
        {.text = std::string(fresh_[i].text.data(), fresh_[i].size), .source = fresh_[i].source});
  fresh_count_ = 0;
  names.is_full = is_full_.load(std::memory_order_relaxed) && !has_reported_full_;
  has_reported_full_ |= names.is_full;
  return names;
}

void UnknownPlans::forget() {
  const std::lock_guard lock{mutex_};
  for (auto& seen : seen_)
    seen.store(0, std::memory_order_relaxed);
  is_full_.store(false, std::memory_order_relaxed);
  fresh_count_ = 0;
  has_reported_full_ = false;
}

}  // namespace weir::limiter
