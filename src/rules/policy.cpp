#include "rules/policy.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "rules/sliding_window.hpp"
#include "rules/span.hpp"

namespace weir::rules {

namespace {

constexpr std::array<std::pair<Algorithm, std::string_view>, algorithm_count> names{{
    {Algorithm::fixed_window, "fixed_window"},
    {Algorithm::attributed_window, "attributed_window"},
    {Algorithm::sliding_window, "sliding_window"},
    {Algorithm::sliding_log, "sliding_log"},
    {Algorithm::token_bucket, "token_bucket"},
    {Algorithm::gcra, "gcra"},
    {Algorithm::leaky_bucket, "leaky_bucket"},
    {Algorithm::concurrency, "concurrency"},
}};

constexpr std::size_t tier_limit = 8;
/// 71 years: an instant in this century plus two such spans is below 2^53.
constexpr std::int64_t span_limit_us = std::int64_t{1} << 51;
/// Keeps capacity * interval_remainder, doubled, below 2^53 (see divide_product).
constexpr std::int64_t product_limit = std::int64_t{1} << 52;
/// The largest number of entries for each key in logs and lists.
constexpr std::int64_t entry_limit = 100'000;

using Finding = std::optional<Fault>;

template <class... Parts>
Finding fault(Setting setting, const Parts&... parts) {
  std::string message;
  (message.append(parts), ...);
  return Fault{setting, std::move(message)};
}

std::string text(std::int64_t value) {
  return std::to_string(value);
}

bool emits(Algorithm algorithm) {
  return algorithm == Algorithm::gcra || algorithm == Algorithm::token_bucket ||
         algorithm == Algorithm::leaky_bucket;
}

Finding check_use_of_keys(const Definition& definition) {
  const Algorithm algorithm = definition.algorithm;
  const auto unused = [&](Setting setting, std::string_view users) {
    return fault(setting, to_string(setting), " has no meaning for ", to_string(algorithm),
                 ": remove it, or use ", users);
  };
  const bool bucket = algorithm == Algorithm::gcra || algorithm == Algorithm::token_bucket;
  const bool window =
      algorithm == Algorithm::fixed_window || algorithm == Algorithm::attributed_window;
  const bool counts_rejected =
      algorithm == Algorithm::fixed_window || algorithm == Algorithm::sliding_log;
  if (definition.burst && !bucket) return unused(Setting::burst, "gcra or token_bucket");
  if (definition.anchor && !window)
    return unused(Setting::anchor, "fixed_window or attributed_window");
  if (definition.count_rejected && !counts_rejected) {
    return unused(Setting::count_rejected, "fixed_window or sliding_log");
  }
  if (definition.queue && algorithm != Algorithm::leaky_bucket)
    return unused(Setting::queue, "leaky_bucket");
  if (definition.max_delay && algorithm != Algorithm::leaky_bucket)
    return unused(Setting::max_delay, "leaky_bucket");
  if (definition.limit && algorithm != Algorithm::concurrency)
    return unused(Setting::limit, "concurrency");
  if (!definition.rates.empty() && algorithm == Algorithm::concurrency) {
    return fault(Setting::rate,
                 "rate has no meaning for concurrency: give limit, the units in flight at once");
  }
  if (definition.rates.size() > 1 && algorithm != Algorithm::sliding_window) {
    return fault(Setting::rate, "rates has ", text(std::ssize(definition.rates)), " tiers, ",
                 to_string(algorithm), " takes one: keep one, or use sliding_window");
  }
  return {};
}

Finding check_rate(const Rate& rate) {
  if (rate.count < 1)
    return fault(Setting::rate, "the rate's count is ", text(rate.count),
                 ": it must be at least 1");
  if (rate.count >= product_limit) {
    return fault(Setting::rate, "the rate's count ", text(rate.count),
                 " is too large to count exactly: it must be below ", text(product_limit));
  }
  if (to_us(rate.per) < 1) {
    return fault(Setting::rate, "the rate's duration is ", text(to_us(rate.per)),
                 "us: it must be at least 1us");
  }
  if (to_us(rate.per) > span_limit_us) {
    return fault(Setting::rate,
                 "the rate's duration is too long to count exactly: it must be at most 26000d");
  }
  return {};
}

Finding check_tier(const Rate& rate) {
  if (to_us(rate.per) % sub_windows != 0) {
    return fault(
        Setting::rate, "a window of ", text(to_us(rate.per)),
        "us does not divide into 10 sub-windows of whole microseconds: use a multiple of 10us");
  }
  if (rate.count > sub_window_count_limit) {
    return fault(Setting::rate, "a count of ", text(rate.count),
                 " is too large for sliding_window: use at most ", text(sub_window_count_limit),
                 ", or gcra");
  }
  return {};
}

Finding check_entries(Algorithm algorithm, const Rate& rate) {
  if (rate.count <= entry_limit) return {};
  const std::string_view instead =
      algorithm == Algorithm::sliding_log ? "sliding_window or gcra" : "fixed_window";
  return fault(Setting::rate, to_string(algorithm), " keeps one entry a request and a count of ",
               text(rate.count), " would need too much memory a key: use at most ",
               text(entry_limit), ", or ", instead);
}

Finding check_rates(const Definition& definition) {
  if (definition.rates.empty())
    return fault(Setting::rate, "rate is missing: give one as COUNT/DURATION, such as 100/1m");
  if (definition.rates.size() > tier_limit) {
    return fault(Setting::rate, "rates has ", text(std::ssize(definition.rates)),
                 " tiers: at most ", text(std::int64_t{tier_limit}), " are decided together");
  }
  for (const Rate& rate : definition.rates) {
    if (Finding found = check_rate(rate)) return found;
    if (definition.algorithm == Algorithm::sliding_window) {
      if (Finding found = check_tier(rate)) return found;
    }
    if (definition.algorithm == Algorithm::sliding_log ||
        definition.algorithm == Algorithm::attributed_window) {
      if (Finding found = check_entries(definition.algorithm, rate)) return found;
    }
  }
  return {};
}

/// Checks the bounds within which span.hpp is exact. `setting` gives the capacity except for
/// `fixed` units.
Finding check_capacity(const Policy& policy, Setting setting, std::int64_t fixed) {
  const std::int64_t for_time = span_limit_us / (policy.interval_us + 1);
  const std::int64_t for_parts =
      policy.interval_remainder == 0 ? product_limit : product_limit / policy.interval_remainder;
  if (policy.capacity <= std::min(for_time, for_parts)) return {};
  const std::string value = text(policy.capacity - fixed);
  if (for_time <= for_parts) {
    return fault(setting, to_string(setting), " ", value,
                 " would take more than 71 years to refill at this rate: use at most ",
                 text(for_time - fixed));
  }
  return fault(setting, to_string(setting), " ", value,
               " cannot be counted exactly at this rate: use at most ", text(for_parts - fixed),
               ", or a count that divides the duration");
}

Finding fill_bucket(const Definition& definition, Policy& policy) {
  policy.capacity = definition.burst.value_or(policy.rates[0].count);
  if (policy.capacity < 1)
    return fault(Setting::burst, "burst is ", text(policy.capacity), ": it must be at least 1");
  return check_capacity(policy, Setting::burst, 0);
}

/// The units that can wait for max_delay, if the configuration has no queue.
Finding fill_queue_from_delay(Duration max_delay, Policy& policy) {
  if (to_us(max_delay) > product_limit / policy.rates[0].count) {
    return fault(Setting::max_delay,
                 "max_delay is too long to derive a queue from at this rate: give queue, too");
  }
  policy.queue = units_in(policy, to_us(max_delay), 0).whole;
  return {};
}

Finding fill_queue(const Definition& definition, Policy& policy) {
  const Duration max_delay = definition.max_delay.value_or(Duration{0});
  if (max_delay < Duration{0} || to_us(max_delay) > span_limit_us) {
    return fault(Setting::max_delay, "max_delay is ", text(to_us(max_delay)),
                 "us: it must be between 0 and 26000d");
  }
  if (definition.queue) {
    policy.queue = *definition.queue;
  } else if (Finding found = fill_queue_from_delay(max_delay, policy)) {
    return found;
  }
  if (policy.queue < 0 || policy.queue >= product_limit) {
    return fault(Setting::queue, "queue is ", text(policy.queue), ": it must be between 0 and ",
                 text(product_limit - 1));
  }
  policy.capacity = 1 + policy.queue;
  if (Finding found = check_capacity(policy, Setting::queue, 1)) return found;
  policy.max_delay = definition.max_delay.value_or(ceil_us(span_of(policy, policy.queue)));
  return {};
}

Result<Policy, Fault> compile_concurrency(const Definition& definition) {
  if (!definition.limit)
    return *fault(Setting::limit, "limit is missing: give the units in flight at once, such as 10");
  const std::int64_t limit = *definition.limit;
  if (limit < 1 || limit >= product_limit) {
    return *fault(Setting::limit, "limit is ", text(limit), ": it must be between 1 and ",
                  text(product_limit - 1));
  }
  const std::int64_t second = to_us(std::chrono::seconds(1));
  return Policy{.algorithm = Algorithm::concurrency,
                .rates = {{limit, std::chrono::seconds(1)}},
                .capacity = limit,
                .interval_us = second / limit,
                .interval_remainder = second % limit};
}

/// The tier with the smallest count; among equal counts the one with the longest window.
const Rate& narrowest(const std::vector<Rate>& rates) {
  return *std::min_element(rates.begin(), rates.end(), [](const Rate& a, const Rate& b) {
    return a.count != b.count ? a.count < b.count : a.per > b.per;
  });
}

void fill_windows(Policy& policy) {
  const Rate& rate = narrowest(policy.rates);
  policy.capacity = rate.count;
  policy.refill = rate.per;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [&](const auto& name) { return name.first == algorithm; });
  return found == names.end() ? std::string_view{} : found->second;
}

std::string_view to_string(Setting setting) {
  switch (setting) {
    case Setting::rate:
      return "rate";
    case Setting::burst:
      return "burst";
    case Setting::anchor:
      return "anchor";
    case Setting::count_rejected:
      return "count_rejected";
    case Setting::queue:
      return "queue";
    case Setting::max_delay:
      return "max_delay";
    case Setting::limit:
      break;
  }
  return "limit";
}

void throw_exception_from_error(const Fault& fault, const boost::source_location&) {
  throw std::runtime_error(fault.message);
}

Result<Policy, Fault> compile(const Definition& definition) {
  if (Finding found = check_use_of_keys(definition)) return *found;
  if (definition.algorithm == Algorithm::concurrency) return compile_concurrency(definition);
  if (Finding found = check_rates(definition)) return *found;
  const Rate& rate = definition.rates[0];
  Policy policy{.algorithm = definition.algorithm,
                .anchor = definition.anchor.value_or(Anchor::first_request),
                .count_rejected = definition.count_rejected,
                .rates = definition.rates,
                .interval_us = to_us(rate.per) / rate.count,
                .interval_remainder = to_us(rate.per) % rate.count};
  if (!emits(policy.algorithm)) {
    fill_windows(policy);
    return policy;
  }
  const bool queues = policy.algorithm == Algorithm::leaky_bucket;
  if (Finding found = queues ? fill_queue(definition, policy) : fill_bucket(definition, policy)) {
    return *found;
  }
  policy.refill = ceil_us(span_of(policy, policy.capacity));
  return policy;
}

}  // namespace weir::rules
