#include "config/loose_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::config {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

/// Words for units of time, and the unit of Weir.
constexpr std::array<Word, 26> time_words{{
    {"us", "us"}, {"ms", "ms"}, {"msec", "ms"}, {"millis", "ms"}, {"milliseconds", "ms"},
    {"s", "s"},   {"sec", "s"}, {"secs", "s"},  {"second", "s"},  {"seconds", "s"},
    {"m", "m"},   {"min", "m"}, {"mins", "m"},  {"minute", "m"},  {"minutes", "m"},
    {"h", "h"},   {"hr", "h"},  {"hrs", "h"},   {"hour", "h"},    {"hours", "h"},
    {"d", "d"},   {"day", "d"}, {"days", "d"},  {"week", "7d"},   {"weeks", "7d"},
    {"w", "7d"},
}};
constexpr std::array<Word, 8> size_words{{{"b", "B"},
                                          {"bytes", "B"},
                                          {"k", "KiB"},
                                          {"kb", "KiB"},
                                          {"m", "MiB"},
                                          {"mb", "MiB"},
                                          {"g", "GiB"},
                                          {"gb", "GiB"}}};
/// Before the time of a rate.
constexpr std::string_view request_words[] = {"requests", "request", "reqs", "req", "r"};
constexpr std::string_view divider_words[] = {"/", "per", "p"};
constexpr std::int64_t largest_count = 1'000'000'000'000;

template <std::size_t N>
std::string_view find_word(const std::array<Word, N>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &Word::first);
  return found == words.end() ? std::string_view() : found->second;
}

/// A text that is read from its start: without blanks and quotes, in lower case.
class Reader {
 public:
  explicit Reader(std::string_view text) {
    for (const char c : text) {
      if (c != ' ' && c != '_' && c != ',') text_ += http::to_lower(c);
    }
    for (const std::string_view quote :
         {"\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x98", "\xe2\x80\x99"}) {
      for (auto at = text_.find(quote); at != std::string::npos; at = text_.find(quote))
        text_.erase(at, quote.size());
    }
    rest_ = text_;
  }

  bool at_end() const { return rest_.empty(); }
  bool take(std::string_view word) {
    const bool is_next = rest_.starts_with(word);
    if (is_next) rest_.remove_prefix(word.size());
    return is_next;
  }
  std::string_view letters() {
    return taken([](char c) { return http::is_alpha(c); });
  }
  std::string_view digits() {
    return taken([](char c) { return http::is_digit(c); });
  }

 private:
  template <class Predicate>
  std::string_view taken(Predicate is_wanted) {
    const auto end = std::ranges::find_if_not(rest_, is_wanted);
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  std::string text_;
  std::string_view rest_;
};

/// count / scale, exactly.
struct Fraction {
  std::int64_t count = 0;
  std::int64_t scale = 1;
};

/// Reads 10, 0.5 and 1k.
std::optional<Fraction> take_number(Reader& from) {
  std::string digits(from.digits());
  if (digits.empty()) return std::nullopt;
  Fraction number;
  if (from.take(".")) {
    const std::string_view decimals = from.digits();
    if (decimals.empty() || decimals.size() > 6) return std::nullopt;
    digits += decimals;
    for (std::size_t i = 0; i < decimals.size(); ++i)
      number.scale *= 10;
  }
  const auto count = parse_integer(digits);
  if (!count || *count > largest_count) return std::nullopt;
  number.count = *count;
  const std::int64_t common = std::gcd(number.count, number.scale);
  if (common > 1) number = {.count = number.count / common, .scale = number.scale / common};
  return number;
}

/// Reads one or more numbers with units; a number alone has the unit `bare`.
std::optional<Duration> take_duration(Reader& from, std::string_view bare) {
  Duration sum{0};
  do {
    const auto number = take_number(from);
    if (!number) return std::nullopt;
    const std::string_view word = from.letters();
    const std::string_view unit = word.empty() ? bare : find_word(time_words, word);
    const auto one = parse_duration((unit.empty() || http::is_digit(unit.front()) ? "" : "1") +
                                    std::string(unit));
    if (!one || number->count > largest_count / to_us(*one)) return std::nullopt;
    const std::int64_t us = number->count * to_us(*one);
    if (us % number->scale != 0) return std::nullopt;
    sum += Duration{us / number->scale};
  } while (!from.at_end());
  return sum;
}

template <std::size_t N>
bool take_any(Reader& from, const std::string_view (&words)[N]) {
  return std::any_of(words, words + N, [&](std::string_view word) { return from.take(word); });
}

/// The time of a rate: `m`, `1m`, `minute` or `30 minutes`.
std::optional<Duration> take_time_of_rate(Reader& from) {
  Reader named = from;
  const std::string_view unit = find_word(time_words, named.letters());
  if (unit.empty() || !named.at_end()) return take_duration(from, {});
  const auto one = parse_duration((http::is_digit(unit.front()) ? "" : "1") + std::string(unit));
  return one ? std::optional(*one) : std::nullopt;
}

}  // namespace

std::string rate_meant(std::string_view text) {
  Reader from(text);
  auto count = take_number(from);
  if (!count) return {};
  if (from.take("k")) count->count *= 1000;
  if (!take_any(from, divider_words)) {
    if (!take_any(from, request_words) || !take_any(from, divider_words)) return {};
  }
  const auto per = take_time_of_rate(from);
  if (!per || count->count == 0 || to_us(*per) > largest_count / count->scale) return {};
  std::string time = format_duration(*per * count->scale);
  if (time.starts_with('1') && time.size() > 1 && http::is_alpha(time[1])) time.erase(0, 1);
  std::string rate = std::to_string(count->count) + '/' + time;
  return parse_rate(rate) ? rate : std::string();
}

std::string duration_meant(std::string_view text) {
  Reader from(text);
  const auto meant = take_duration(from, "s");
  return meant ? format_duration(*meant) : std::string();
}

std::string size_meant(std::string_view text) {
  Reader from(text);
  const std::string_view digits = from.digits();
  const std::string_view letters = from.letters();
  std::string_view unit = find_word(size_words, letters);
  for (const auto& [word, valid] : size_words) {
    const std::string_view lower = letters;
    if (unit.empty() && lower.size() == 3 && lower.substr(1) == "ib" && word == lower.substr(0, 1))
      unit = valid;
  }
  if (digits.empty() || unit.empty() || !from.at_end()) return {};
  return std::string(digits) += unit;
}

std::string integer_meant(std::string_view text) {
  Reader from(text);
  const std::string_view digits = from.digits();
  if (digits.empty() || digits == text || from.take(".")) return {};
  constexpr std::array<Word, 4> multiples{
      {{"k", "000"}, {"K", "000"}, {"M", "000000"}, {"m", "000000"}}};
  const auto found = std::ranges::find(multiples, text.substr(digits.size()), &Word::first);
  return std::string(digits).append(found == multiples.end() ? std::string_view() : found->second);
}

bool names_months(std::string_view text) {
  return text.find("month") != std::string_view::npos ||
         text.find("year") != std::string_view::npos;
}

}  // namespace weir::config
