#include <algorithm>
#include <chrono>

#include "http/ratelimit_fields.hpp"

namespace weir::http {
namespace {

using namespace std::chrono;

constexpr std::string_view weekdays = "SunMonTueWedThuFriSat";
constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";

// The form has four digits for the year.
constexpr sys_seconds earliest = sys_days{year{0} / 1 / 1};
constexpr sys_seconds latest = sys_days{year{10000} / 1 / 1} - seconds{1};

char* put_two_digits(char* at, unsigned number) {
  *at++ = static_cast<char>('0' + number / 10);
  *at++ = static_cast<char>('0' + number % 10);
  return at;
}

char* put_name(char* at, std::string_view names, unsigned index) {
  return std::copy_n(names.data() + index * 3, 3, at);
}

char* put(char* at, std::string_view text) {
  return std::copy(text.begin(), text.end(), at);
}

}  // namespace

void append_http_date(std::string& out, Instant at) {
  const sys_seconds second = std::clamp(floor<seconds>(at), earliest, latest);
  const sys_days day = floor<days>(second);
  const year_month_day date{day};
  const hh_mm_ss time{second - day};
  const auto year_number = static_cast<unsigned>(static_cast<int>(date.year()));

  char text[29];
  char* end = put_name(text, weekdays, weekday{day}.c_encoding());
  end = put_two_digits(put(end, ", "), static_cast<unsigned>(date.day()));
  end = put_name(put(end, " "), months, static_cast<unsigned>(date.month()) - 1);
  end = put_two_digits(put(end, " "), year_number / 100);
  end = put_two_digits(end, year_number % 100);
  end = put_two_digits(put(end, " "), static_cast<unsigned>(time.hours().count()));
  end = put_two_digits(put(end, ":"), static_cast<unsigned>(time.minutes().count()));
  end = put_two_digits(put(end, ":"), static_cast<unsigned>(time.seconds().count()));
  end = put(end, " GMT");
  out.append(text, end);
}

}  // namespace weir::http
