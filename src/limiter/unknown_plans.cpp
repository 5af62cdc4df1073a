#include "limiter/unknown_plans.hpp"

#include <algorithm>

#include "base/siphash.hpp"

namespace weir::limiter {

void UnknownPlans::note(std::string_view name) noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  if (name.empty()) return;
  const std::uint64_t hash = siphash128({}, name).low | 1;
  for (auto& seen : seen_) {
    std::uint64_t known = seen.load(std::memory_order_relaxed);
    if (known == hash) return;
    if (known != 0) continue;
    if (seen.compare_exchange_strong(known, hash, std::memory_order_relaxed)) return keep(name);
    if (known == hash) return;
  }
  is_full_.store(true, std::memory_order_relaxed);
}

void UnknownPlans::keep(std::string_view name) noexcept {
  const std::lock_guard lock{mutex_};
  if (fresh_count_ == fresh_.size()) return;
  Kept& to = fresh_[fresh_count_++];
  to.size = std::min(name.size(), to.text.size());
  std::transform(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(to.size), to.text.begin(),
                 [](char c) { return c >= ' ' && c < '\x7f' && c != '"' ? c : '?'; });
}

UnknownPlans::Names UnknownPlans::take() {
  Names names;
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < fresh_count_; ++i)
    names.fresh.emplace_back(fresh_[i].text.data(), fresh_[i].size);
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
  has_reported_full_ = false;
}

}  // namespace weir::limiter
