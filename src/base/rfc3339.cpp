#include "base/rfc3339.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/appender.hpp"

namespace weir {
namespace {

/// Takes numbers and separators from the begin of a text; good() is false after a mismatch.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  int number(std::size_t digits, int most) {
    int value = 0;
    const auto end = text_.data() + std::min(digits, text_.size());
    const auto [stop, error] = std::from_chars(text_.data(), end, value);
    const bool is_number = text_.size() >= digits && error == std::errc{} && stop == end &&
                           text_.front() != '-' && value <= most;
    good_ = good_ && is_number;
    text_.remove_prefix(std::min(digits, text_.size()));
    return value;
  }
  /// Takes one of these characters, in upper or lower case as given, and returns it.
  char one_of(std::string_view choices) {
    const bool fits = !text_.empty() && choices.find(text_.front()) != std::string_view::npos;
    good_ = good_ && fits;
    if (!fits) return '\0';
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
  }
  bool next_is(char c) const { return text_.starts_with(c); }
  std::size_t digits_ahead() const {
    const auto end = text_.find_first_not_of("0123456789");
    return end == std::string_view::npos ? text_.size() : end;
  }
  void skip_digits() { text_.remove_prefix(digits_ahead()); }
  bool good() const { return good_; }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

Duration fraction(Scanner& in) {
  if (!in.next_is('.')) return Duration{0};
  in.one_of(".");
  const std::size_t digits = in.digits_ahead();
  const std::size_t counted = std::clamp<std::size_t>(digits, 1, 6);  // without a digit it fails
  std::int64_t us = in.number(counted, 999'999);
  for (std::size_t i = counted; i < 6; ++i)
    us *= 10;
  in.skip_digits();
  return Duration{us};
}

Duration offset(Scanner& in) {
  const char sign = in.one_of("Zz+-");
  if (sign != '+' && sign != '-') return Duration{0};
  const std::chrono::hours hours{in.number(2, 23)};
  in.one_of(":");
  const std::chrono::minutes minutes{in.number(2, 59)};
  const Duration size = hours + minutes;
  return sign == '+' ? size : -size;
}

}  // namespace

std::optional<Instant> parse_rfc3339(std::string_view text) {
  namespace chrono = std::chrono;
  Scanner in(text);
  const chrono::year year{in.number(4, 9999)};
  in.one_of("-");
  const chrono::month month{static_cast<unsigned>(in.number(2, 12))};
  in.one_of("-");
  const chrono::day day{static_cast<unsigned>(in.number(2, 31))};
  in.one_of("Tt ");
  const chrono::hours hour{in.number(2, 23)};
  in.one_of(":");
  const chrono::minutes minute{in.number(2, 59)};
  in.one_of(":");
  const chrono::seconds second{in.number(2, 59)};
  const Duration rest = fraction(in);
  const Duration ahead = offset(in);
  const chrono::year_month_day date{year, month, day};
  if (!in.good() || !in.at_end() || !date.ok()) return std::nullopt;
  return Instant{chrono::sys_days{date}} + hour + minute + second + rest - ahead;
}

std::string to_rfc3339(Instant at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto us = static_cast<std::uint64_t>(to_us(at - day));
  const std::uint64_t s = us / 1'000'000;
  std::string text;
  Appender out(text);
  out.padded<4>(static_cast<unsigned>(static_cast<int>(date.year()))).add('-');
  out.padded<2>(static_cast<unsigned>(date.month())).add('-');
  out.padded<2>(static_cast<unsigned>(date.day())).add('T');
  out.padded<2>(s / 3'600).add(':').padded<2>(s / 60 % 60).add(':').padded<2>(s % 60);
  if (us % 1'000'000 != 0) out.add('.').padded<6>(us % 1'000'000);
  out.add('Z');
  return text;
}

}  // namespace weir
