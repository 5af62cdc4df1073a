#include "replay/other_rates.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "replay/rate_ladder.hpp"

namespace weir::replay {
namespace {

/// Round rates are decided up to this multiple of the configured one.
constexpr std::int64_t highest_multiple = 1000;
/// Leaves room for the multiples.
constexpr std::size_t most_round_rates = RateLadder::most_rates - 3;

std::int64_t count_of(const rules::Definition& definition) {
  return definition.limit ? *definition.limit : definition.rates.front().count;
}

void add(std::vector<OtherRate>& rates, const rules::Definition& base, std::int64_t count,
         std::optional<std::string> times) {
  auto definition = with_count(base, count);
  if (!definition) return;
  const bool is_round = !times;
  const auto same = std::ranges::find(rates, *definition, &OtherRate::definition);
  if (same != rates.end()) {
    same->is_round = same->is_round || is_round;
    if (times) same->times = std::move(times);
    return;
  }
  rates.push_back({.definition = *definition,
                   .numbers = rules::compile(*definition).value(),
                   .times = std::move(times),
                   .is_round = is_round});
}

void add_round(std::vector<OtherRate>& rates, const rules::Definition& base) {
  const std::int64_t count = count_of(base);
  const std::int64_t most =
      std::min(count, std::numeric_limits<std::int64_t>::max() / highest_multiple) *
      highest_multiple;
  std::vector<std::int64_t> counts = round_counts(most);
  counts.resize(std::min(counts.size(), most_round_rates));
  for (const std::int64_t one : counts)
    add(rates, base, one, std::nullopt);
}

}  // namespace

std::vector<std::int64_t> round_counts(std::int64_t most) {
  std::vector<std::int64_t> counts;
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t count : {power, 2 * power, power / 10 * 25, 5 * power}) {
      if (count > most) return counts;
      if (count > 0) counts.push_back(count);  // 2.5 is no whole number
    }
    if (power > std::numeric_limits<std::int64_t>::max() / 100) return counts;
  }
}

std::optional<rules::Definition> with_count(const rules::Definition& definition,
                                            std::int64_t count) {
  rules::Definition other = definition;
  if (other.limit) other.limit = count;
  const std::int64_t first = count_of(definition);
  for (rules::Rate& rate : other.rates) {
    if (rate.count == first) {
      rate.count = count;
      continue;
    }
    if (count > std::numeric_limits<std::int64_t>::max() / rate.count - 1) return std::nullopt;
    rate.count = (rate.count * count + first - 1) / first;
  }
  return rules::compile(other) ? std::optional(other) : std::nullopt;
}

std::vector<OtherRate> other_rates(const rules::Definition& definition, bool with_round) {
  std::vector<OtherRate> rates;
  const std::int64_t count = count_of(definition);
  add(rates, definition, count, "x1");
  if (count / 2 >= 1) add(rates, definition, count / 2, "x0.5");
  if (count <= std::numeric_limits<std::int64_t>::max() / 2)
    add(rates, definition, 2 * count, "x2");
  if (with_round) add_round(rates, definition);
  std::ranges::sort(rates, {}, [](const OtherRate& one) { return count_of(one.definition); });
  return rates;
}

std::vector<OtherRate> round_rates_without_burst(const rules::Definition& definition) {
  std::vector<OtherRate> rates;
  if (!definition.burst) return rates;
  rules::Definition without = definition;
  without.burst.reset();
  add_round(rates, without);
  return rates;
}

}  // namespace weir::replay
