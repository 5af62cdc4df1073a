#include "store/observed_level.hpp"

#include <algorithm>
#include <span>

namespace weir::store {
namespace {

Instant sum_of(Instant at, std::optional<Duration> after) {
  return after ? at + *after : Instant::max();
}

}  // namespace

ObservedLevel::ObservedLevel(const rules::Decision& decision, Exchange exchange)
    : limit_(decision.limit),
      remaining_(decision.remaining),
      reset_after_(decision.reset_after),
      more_after_(decision.more_after),
      exchange_(exchange) {}

void ObservedLevel::inherit(const ObservedLevel& earlier) {
  const Instant whole_from = exchange_.sent_at + reset_after_;
  const bool is_charged = remaining_ < earlier.remaining_ || limit_ != earlier.limit_ ||
                          whole_from > earlier.exchange_.answered_at + earlier.reset_after_;
  if (is_charged) return;
  for (const Denial& denial : std::span(earlier.denials_).first(earlier.count_)) {
    if (denial.cost > remaining_ && denial.passes_from > exchange_.answered_at)
      denials_[count_++] = denial;
  }
}

void ObservedLevel::add_denial(std::int64_t cost, std::optional<Duration> retry_after) {
  const Denial added{.cost = cost,
                     .passes_from = sum_of(exchange_.sent_at, retry_after),
                     .passes_by = sum_of(exchange_.answered_at, retry_after)};
  // A larger cost that passes earlier, or a smaller one that passes later, is from before a charge
  // by another instance.
  const auto is_outdated = [&](const Denial& denial) {
    if (denial.cost == cost) return true;
    return denial.cost > cost ? denial.passes_by < added.passes_from
                              : denial.passes_from > added.passes_by;
  };
  const auto kept = std::remove_if(denials_.begin(), denials_.begin() + count_, is_outdated);
  count_ = static_cast<std::size_t>(kept - denials_.begin());
  if (cost == remaining_ + 1 && retry_after == more_after_) return;  // it follows from the level
  if (count_ == denials_.size()) {
    *std::ranges::min_element(denials_, {}, &Denial::passes_from) = added;
  } else {
    denials_[count_++] = added;
  }
}

std::optional<rules::Decision> ObservedLevel::decide(std::int64_t cost, Instant now) const {
  rules::Decision decision{.allowed = cost <= limit_, .limit = limit_, .remaining = limit_};
  const auto rest_of = [&](Duration duration) {
    return std::max(exchange_.answered_at + duration - now, Duration{0});
  };
  decision.reset_after = rest_of(reset_after_);
  // All units may be left although a tier of a sliding window still counts some.
  if (remaining_ == limit_ || decision.reset_after == Duration{0}) return decision;
  if (now >= exchange_.sent_at + std::max(more_after_, std::min(refresh_after, reset_after_)))
    return std::nullopt;

  decision.allowed = cost <= remaining_;
  decision.remaining = remaining_;
  // More may be available by now, but not all of it.
  decision.more_after = std::max(rest_of(more_after_), Duration{1});
  if (decision.allowed || cost > limit_) return decision;
  const auto denial = denial_of(cost);
  if (!denial || now >= denial->passes_from) return std::nullopt;
  if (denial->passes_by != Instant::max()) decision.retry_after = denial->passes_by - now;
  return decision;
}

std::optional<Instant> ObservedLevel::denied_until(std::int64_t cost) const {
  if (cost <= remaining_) return std::nullopt;
  if (cost > limit_) return Instant::max();
  const auto denial = denial_of(cost);
  return denial ? denial->passes_from : exchange_.sent_at + more_after_;
}

/// When a cost above `remaining_` and up to the limit passes; empty: unknown.
std::optional<ObservedLevel::Denial> ObservedLevel::denial_of(std::int64_t cost) const {
  const auto known = std::span(denials_).first(count_);
  if (const auto same = std::ranges::find(known, cost, &Denial::cost); same != known.end())
    return *same;
  const auto after = [&](Duration duration) {
    return Denial{.cost = cost,
                  .passes_from = exchange_.sent_at + duration,
                  .passes_by = exchange_.answered_at + duration};
  };
  if (cost == remaining_ + 1) return after(more_after_);
  if (more_after_ == reset_after_) return after(reset_after_);
  return count_ == denials_.size() ? denial_between(cost) : std::nullopt;
}

/// Without room for a further cost: it is denied as long as smaller ones, and passes with larger
/// ones.
std::optional<ObservedLevel::Denial> ObservedLevel::denial_between(std::int64_t cost) const {
  Denial found{.cost = cost,
               .passes_from = exchange_.sent_at + more_after_,
               .passes_by = exchange_.answered_at + reset_after_};
  for (const Denial& denial : denials_) {
    if (denial.cost < cost) {
      found.passes_from = std::max(found.passes_from, denial.passes_from);
    } else {
      found.passes_by = std::min(found.passes_by, denial.passes_by);
    }
  }
  return found;
}

}  // namespace weir::store
