// A policy's arithmetic: which algorithm, how much, in what time. Checked once, then immutable.
//
// Quotas and costs are whole units, times whole microseconds; where a quota does not divide its
// window the remainder is carried exactly (docs/algorithms.md). What can not be represented exactly
// is refused by compile(), never rounded.
#pragma once

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
};

std::string_view to_string(Algorithm algorithm);
std::optional<Algorithm> algorithm_from(std::string_view name);

enum class Anchor : std::uint8_t { first_request, clock };

/// `count` units every `per`.
struct Rate {
  std::int64_t count = 0;
  Duration per{0};
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// What the configuration says, unchecked. Absent values take the algorithm's default.
struct Definition {
  Algorithm algorithm = Algorithm::gcra;
  std::vector<Rate> rates{};  ///< one, or several tiers for sliding_window
  /// gcra, token_bucket: the capacity usable at once; default: the rate's count.
  std::optional<std::int64_t> burst{};
  std::optional<Anchor> anchor{};  ///< fixed_window, attributed_window
  bool count_rejected = false;     ///< fixed_window, sliding_log
  /// leaky_bucket: units that may wait; default: what max_delay lets wait, else 0.
  std::optional<std::int64_t> queue{};
  /// leaky_bucket: how long one may wait; default: what the full queue takes.
  std::optional<Duration> max_delay{};
};

/// A checked definition with what the rules need precomputed. Cheap to read, shared by all threads.
struct Policy {
  Algorithm algorithm = Algorithm::gcra;
  Anchor anchor = Anchor::first_request;
  bool count_rejected = false;
  std::vector<Rate> rates;  ///< never empty; rates[0] is the one for all but sliding_window
  /// Units usable at once: burst, or the (smallest tier's) count; leaky_bucket: 1 + queue.
  std::int64_t capacity = 0;
  /// `w` of RateLimit-Policy: the time in which an empty capacity becomes whole, rounded up to
  /// microseconds; for windows their length (of the tier that gives the capacity).
  Duration refill{0};
  std::int64_t interval_us = 0;         ///< whole part of per / count
  std::int64_t interval_remainder = 0;  ///< per mod count; the rest of the interval in count-ths
  std::int64_t queue = 0;               ///< leaky_bucket
  Duration max_delay{0};                ///< leaky_bucket
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// The settings of a definition that can be wrong, besides its algorithm.
enum class Setting : std::uint8_t { rate, burst, anchor, count_rejected, queue, max_delay };

/// As the configuration names it: `max_delay`.
std::string_view to_string(Setting setting);

/// Why a definition cannot be used.
struct Fault {
  Setting setting;
  std::string message;  ///< which value is wrong, and what would be right
};
[[noreturn]] void throw_exception_from_error(const Fault& fault, const boost::source_location&);

/// Checks a definition and computes what its algorithm needs. Reports the first fault; without the
/// setting that it names, the next one.
Result<Policy, Fault> compile(const Definition& definition);

}  // namespace weir::rules
