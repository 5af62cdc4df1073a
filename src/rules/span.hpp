// Exact lengths of time for rates that do not divide: whole microseconds and count-ths of one.
//
// Within the bounds that compile() checks, every intermediate is below 2^53, so that the same steps
// give the same results in Lua, whose numbers are doubles. Pure.
#pragma once

#include <compare>
#include <cstdint>

#include "base/time.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// Doubles represent all whole numbers up to this one, and the next, exactly.
inline constexpr std::int64_t exact_limit = (std::int64_t{1} << 53) - 1;

constexpr std::int64_t floor_div(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}
constexpr std::int64_t ceil_div(std::int64_t dividend, std::int64_t divisor) {
  return -floor_div(-dividend, divisor);
}

/// us + fraction / count microseconds of one policy, 0 <= fraction < count.
struct Span {
  std::int64_t us = 0;
  std::int64_t fraction = 0;
  friend auto operator<=>(const Span&, const Span&) = default;
};

constexpr Duration ceil_us(Span span) {
  return Duration{span.us + (span.fraction > 0 ? 1 : 0)};
}

constexpr Span add(Span a, Span b, std::int64_t count) {
  const std::int64_t fraction = a.fraction + b.fraction;
  return fraction < count ? Span{a.us + b.us, fraction} : Span{a.us + b.us + 1, fraction - count};
}

constexpr Span subtract(Span a, Span b, std::int64_t count) {
  const std::int64_t fraction = a.fraction - b.fraction;
  return fraction >= 0 ? Span{a.us - b.us, fraction} : Span{a.us - b.us - 1, fraction + count};
}

/// The time in which the rate emits `units`, 0 <= units <= capacity.
inline Span span_of(const Policy& policy, std::int64_t units) {
  const std::int64_t whole = units * policy.interval_us;
  if (policy.interval_remainder == 0) return {whole, 0};
  const std::int64_t count = policy.rates[0].count;
  const std::int64_t parts = units * policy.interval_remainder;
  return {whole + parts / count, parts % count};
}

struct Quotient {
  std::int64_t whole = 0;
  std::int64_t remainder = 0;
};

/// (value * count + carry) divided by per, where per = interval * count + remainder, without the
/// product value * count: with value = a * interval + b the dividend is a * per + (b * count +
/// carry - a * remainder).
constexpr Quotient divide_product(std::int64_t value, std::int64_t count, std::int64_t carry,
                                  std::int64_t interval, std::int64_t remainder, std::int64_t per) {
  const std::int64_t a = interval == 0 ? 0 : value / interval;
  const std::int64_t rest = (value - a * interval) * count + carry - a * remainder;
  const std::int64_t correction = floor_div(rest, per);
  return {a + correction, rest - correction * per};
}

/// The whole units that the rate emits in `us` microseconds and `carry` per-ths of a unit; the
/// remainder in per-ths.
inline Quotient units_in(const Policy& policy, std::int64_t us, std::int64_t carry) {
  const Rate& rate = policy.rates[0];
  return divide_product(us, rate.count, carry, policy.interval_us, policy.interval_remainder,
                        to_us(rate.per));
}

}  // namespace weir::rules
