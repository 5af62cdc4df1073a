#include "grpc/fields.hpp"

#include <cstddef>
#include <cstdint>

#include "http/request_view.hpp"

namespace weir::grpc {
namespace {

constexpr std::size_t most_digits = 8;

/// The unit in nanoseconds; 0: there is no such unit.
constexpr std::int64_t nanoseconds_of(char unit) {
  switch (unit) {
    case 'H':
      return 3'600'000'000'000;
    case 'M':
      return 60'000'000'000;
    case 'S':
      return 1'000'000'000;
    case 'm':
      return 1'000'000;
    case 'u':
      return 1'000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

}  // namespace

bool is_grpc(std::string_view type) {
  if (!http::iequals(type.substr(0, content_type.size()), content_type)) return false;
  type.remove_prefix(content_type.size());
  return type.empty() || type.front() == '+' || type.front() == ';' || type.front() == ' ';
}

std::optional<Duration> parse_timeout(std::string_view text) {
  if (text.size() < 2 || text.size() > most_digits + 1) return std::nullopt;
  const std::int64_t unit = nanoseconds_of(text.back());
  if (unit == 0) return std::nullopt;
  text.remove_suffix(1);
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  // In microseconds, because 99999999 hours in nanoseconds do not fit.
  if (unit >= 1000) return Duration{value * (unit / 1000)};
  return Duration{(value + 999) / 1000};
}

void append_message(Appender& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out.add(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.add('%').add(digits[byte >> 4]).add(digits[byte & 15]);
  }
}

}  // namespace weir::grpc
