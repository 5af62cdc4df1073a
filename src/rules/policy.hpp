// The arithmetic of a policy: algorithm, quotas and times. Checked once, then immutable.
//
// Quotas and costs are whole units, times whole microseconds; where a quota does not divide its
// window the remainder is carried exactly (docs/algorithms.md). compile() refuses values that
// cannot be represented exactly, and never rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace weir::rules {

enum class Algorithm : std::uint8_t {
  fixed_window,
  attributed_window,
  sliding_window,
  sliding_log,
  token_bucket,
  gcra,
  leaky_bucket,
  concurrency,
};
inline constexpr std::size_t algorithm_count = 8;

std::string_view to_string(Algorithm algorithm);

enum class Anchor : std::uint8_t { first_request, clock };

/// `count` units every `per`.
struct Rate {
  std::int64_t count = 0;
  Duration per{0};
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// The values of the configuration, unchecked. Absent values have the default of the algorithm.
struct Definition {
  Algorithm algorithm = Algorithm::gcra;
  std::vector<Rate> rates{};  ///< one, or several tiers for sliding_window
  /// gcra, token_bucket: the capacity usable at once; default: the rate's count.
  std::optional<std::int64_t> burst{};
  std::optional<Anchor> anchor{};  ///< fixed_window, attributed_window
  bool count_rejected = false;     ///< fixed_window, sliding_log
  /// leaky_bucket: units that may wait; default: as many as fit into max_delay, else 0.
  std::optional<std::int64_t> queue{};
  /// leaky_bucket: the longest wait; default: the time that the full queue takes.
  std::optional<Duration> max_delay{};
  /// concurrency: units in flight at the same time; `rates` is empty then.
  std::optional<std::int64_t> limit{};
  friend bool operator==(const Definition&, const Definition&) = default;
};

/// A checked definition with the values that the rules need. Immutable, shared by all threads.
struct Policy {
  Algorithm algorithm = Algorithm::gcra;
  Anchor anchor = Anchor::first_request;
  bool count_rejected = false;
  /// Never empty; all algorithms but sliding_window have one. concurrency: {limit, one second},
  /// which is no rate but keeps arithmetic on it defined.
  std::vector<Rate> rates;
  /// Units usable at once: burst, limit, or the (smallest tier's) count; leaky_bucket: 1 + queue.
  std::int64_t capacity = 0;
  /// `w` of RateLimit-Policy: the time in which an empty capacity is restored, rounded up to
  /// microseconds; for windows their length (of the tier that gives the capacity); concurrency: 0.
  Duration refill{0};
  std::int64_t interval_us = 0;         ///< whole part of per / count
  std::int64_t interval_remainder = 0;  ///< per mod count; the rest of the interval in count-ths
  std::int64_t queue = 0;               ///< leaky_bucket
  Duration max_delay{0};                ///< leaky_bucket
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// The settings of a definition that can be wrong, except the algorithm.
enum class Setting : std::uint8_t { rate, burst, anchor, count_rejected, queue, max_delay, limit };

/// Its name in the configuration: `max_delay`.
std::string_view to_string(Setting setting);

/// Why a definition cannot be used.
struct Fault {
  Setting setting;
  std::string message;  ///< which value is wrong, and which would be valid
};
[[noreturn]] void throw_exception_from_error(const Fault& fault, const boost::source_location&);

/// Checks a definition and computes the values for its algorithm. Reports the first fault; call it
/// again without the setting that it names to find the next one.
Result<Policy, Fault> compile(const Definition& definition);

}  // namespace weir::rules
