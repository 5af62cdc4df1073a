#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace weir::config {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// A name that ends with another one comes before it; the largest first for printing.
constexpr std::array<Unit, 6> time_units{{{"d", 86'400'000'000},
                                          {"h", 3'600'000'000},
                                          {"m", 60'000'000},
                                          {"s", 1'000'000},
                                          {"ms", 1'000},
                                          {"us", 1}}};
constexpr std::array<Unit, 4> size_units{
    {{"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}}};

Problem problem(std::string message) {
  return {std::move(message)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The leading digits and what follows them.
struct Split {
  std::string_view digits;
  std::string_view rest;
};

Split split_digits(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto length = static_cast<std::size_t>(end - text.begin());
  return {text.substr(0, length), text.substr(length)};
}

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  const auto* found =
      std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : found;
}

Result<std::int64_t> scaled(std::string_view digits, std::int64_t factor) {
  Result<std::int64_t> count = parse_integer(digits);
  if (!count) return count;
  if (*count > std::numeric_limits<std::int64_t>::max() / factor) return problem("too large");
  return *count * factor;
}

template <std::size_t N>
std::string format_scaled(const std::array<Unit, N>& units, std::int64_t value) {
  const Unit* fitting = std::find_if(units.begin(), units.end() - 1, [&](const Unit& unit) {
    return value != 0 && value % unit.factor == 0;
  });
  return std::to_string(value / fitting->factor) + std::string(fitting->name);
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return problem("too large");
  if (error != std::errc{} || end != text.data() + text.size()) {
    return problem("expected a whole number");
  }
  return value;
}

Result<Duration> parse_duration(std::string_view text) {
  const Split split = split_digits(text);
  if (split.digits.empty()) {
    return problem(
        "expected a duration: a whole number and a unit, such as 250us, 20ms, 5s, 1m, 1h or 1d");
  }
  if (split.rest.empty()) return problem("a duration needs a unit: us, ms, s, m, h or d");
  if (split.rest.front() == '.') {
    return problem("a duration is a whole number; take a smaller unit (1500ms, not 1.5s)");
  }
  if (std::any_of(split.rest.begin(), split.rest.end(), is_digit)) {
    return problem("a duration is one number and one unit (90s, not 1m30s)");
  }
  const Unit* unit = find_unit(time_units, split.rest);
  if (unit == nullptr) return problem("unknown unit of time; use us, ms, s, m, h or d");
  const Result<std::int64_t> us = scaled(split.digits, unit->factor);
  if (!us) return us.error();
  return Duration{*us};
}

Result<std::int64_t> parse_size(std::string_view text) {
  const Split split = split_digits(text);
  if (split.digits.empty()) return problem("expected a size: 4096, 8KiB, 1MiB or 1GiB");
  const Unit* unit = find_unit(size_units, split.rest.empty() ? "B" : split.rest);
  if (unit == nullptr)
    return problem("unknown unit of size; use B, KiB, MiB or GiB (or nothing: bytes)");
  return scaled(split.digits, unit->factor);
}

Result<rules::Rate> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return problem("expected a rate: COUNT/DURATION, such as 100/1m or 5/s");
  }
  const std::string_view count_text = text.substr(0, slash);
  const std::string_view per_text = text.substr(slash + 1);
  if (split_digits(count_text).digits != count_text || count_text.empty()) {
    return problem(
        "the count of a rate is a whole number (for less than one a unit take a longer time: "
        "1/10s)");
  }
  const Result<std::int64_t> count = parse_integer(count_text);
  if (!count) return problem("the count of the rate is too large");
  if (const Unit* unit = find_unit(time_units, per_text)) {
    return rules::Rate{.count = *count, .per = Duration{unit->factor}};
  }
  const Result<Duration> per = parse_duration(per_text);
  if (!per) return problem("the time of the rate: " + per.error().message);
  return rules::Rate{.count = *count, .per = *per};
}

Result<double> parse_fraction(std::string_view text) {
  const auto plain = [](char c) { return is_digit(c) || c == '.'; };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!std::all_of(text.begin(), text.end(), plain) || error != std::errc{} ||
      end != text.data() + text.size()) {
    return problem("expected a decimal number, such as 0.25");
  }
  return value;
}

std::string format_duration(Duration duration) {
  return to_us(duration) == 0 ? "0s" : format_scaled(time_units, to_us(duration));
}

std::string format_size(std::int64_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) : format_scaled(size_units, bytes);
}

}  // namespace weir::config
