#include "usage/number_reader.hpp"

#include <algorithm>

#include "http/characters.hpp"

namespace weir::usage {
namespace {

/// Digits of a significand that fit into 64 bits.
constexpr std::int64_t kept_digits = 18;
/// More than any body has digits, so that adding one to the other keeps the sign of the larger.
constexpr std::int64_t largest_exponent = 1'000'000'000'000'000'000;

constexpr std::uint64_t power_of_ten(std::int64_t exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent)
    power *= 10;
  return power;
}

}  // namespace

void NumberReader::accept(std::string_view characters) {
  for (const char c : characters) {
    state_ = next_state(c);
    if (state_ == State::malformed) return;
    if (state_ == State::exponent) {
      exponent_ = exponent_ > largest_exponent / 10 ? largest_exponent : exponent_ * 10 + (c - '0');
    } else if (http::is_digit(c)) {
      add_digit(c - '0');
    } else if (c == '-') {
      (state_ == State::minus ? is_negative_ : is_exponent_negative_) = true;
    }
  }
}

/// number = [ minus ] int [ frac ] [ exp ], RFC 8259 section 6.
NumberReader::State NumberReader::next_state(char c) const {
  const bool digit = http::is_digit(c);
  switch (state_) {
    case State::start:
      if (c == '-') return State::minus;
      [[fallthrough]];
    case State::minus:
      return c == '0' ? State::zero : digit ? State::whole : State::malformed;
    case State::whole:
      if (digit) return State::whole;
      [[fallthrough]];
    case State::zero:
      if (c == '.') return State::point;
      return (c | 0x20) == 'e' ? State::exponent_start : State::malformed;
    case State::point:
      return digit ? State::fraction : State::malformed;
    case State::fraction:
      if (digit) return State::fraction;
      return (c | 0x20) == 'e' ? State::exponent_start : State::malformed;
    case State::exponent_start:
      if (c == '+' || c == '-') return State::exponent_sign;
      [[fallthrough]];
    case State::exponent_sign:
    case State::exponent:
      return digit ? State::exponent : State::malformed;
    case State::malformed:
      break;
  }
  return State::malformed;
}

void NumberReader::add_digit(int digit) {
  if (state_ == State::fraction) ++decimals_;
  if (digit == 0) {
    if (significant_digits_ > 0) ++pending_zeros_;
    return;
  }
  significant_digits_ += pending_zeros_ + 1;
  if (significant_digits_ <= kept_digits)
    significand_ =
        significand_ * power_of_ten(pending_zeros_ + 1) + static_cast<std::uint64_t>(digit);
  pending_zeros_ = 0;
}

std::optional<std::int64_t> NumberReader::value() const {
  if (state_ != State::zero && state_ != State::whole && state_ != State::fraction &&
      state_ != State::exponent)
    return std::nullopt;
  if (significant_digits_ == 0) return 0;
  if (is_negative_) return std::nullopt;
  // The last significant digit is not zero: if it is after the point, the number has a fraction.
  const std::int64_t zeros =
      pending_zeros_ - decimals_ + (is_exponent_negative_ ? -exponent_ : exponent_);
  if (zeros < 0) return std::nullopt;
  constexpr std::int64_t most_digits = 16;  // of largest_count
  if (significant_digits_ > most_digits || zeros > most_digits - significant_digits_)
    return largest_count;
  return std::min(static_cast<std::int64_t>(significand_ * power_of_ten(zeros)), largest_count);
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  NumberReader reader;
  reader.accept(text);
  return reader.value();
}

}  // namespace weir::usage
