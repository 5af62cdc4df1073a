#include "http/ratelimit_fields.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>

#include "base/appender.hpp"

namespace weir::http {
namespace {

__extension__ using Wide = unsigned __int128;

// RFC 9651 section 3.3.1: a structured field's Integer has at most 15 digits.
void append_sf_integer(Appender& out, std::int64_t number) {
  out.number(std::clamp<std::int64_t>(number, 0, 999'999'999'999'999));
}

Wide product(std::int64_t a, std::int64_t b) {
  return Wide{static_cast<std::uint64_t>(std::max<std::int64_t>(a, 0))} *
         static_cast<std::uint64_t>(std::max<std::int64_t>(b, 0));
}

bool comes_before(const PolicyReport& a, const PolicyReport& b) {
  return is_closer_to_exhaustion({a.limit, a.remaining, a.reset_after},
                                 {b.limit, b.remaining, b.reset_after});
}

/// True for the report of its policy that is closest to exhaustion, the first of equal ones. A
/// policy has several reports if a request is counted for several identities; a field lists a name
/// once.
bool is_listed(std::span<const PolicyReport> reports, const PolicyReport& report) {
  if (reports.size() == 1) return true;
  return std::none_of(reports.begin(), reports.end(), [&](const PolicyReport& other) {
    if (&other == &report || other.name_item != report.name_item) return false;
    return comes_before(other, report) || (&other < &report && !comes_before(report, other));
  });
}

/// A Byte Sequence (RFC 9651 section 4.1.8) of the hash's 16 bytes in the order of its hexadecimal
/// digits.
void append_partition_key(Appender& out, const Hash128& hash) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const Wide bits = Wide{hash.high} << 64 | hash.low;
  out.add(";pk=:");
  for (int shift = 122; shift >= 2; shift -= 6)
    out.add(digits[static_cast<std::size_t>(bits >> shift) & 63]);
  out.add(digits[static_cast<std::size_t>(bits << 4) & 63]).add("==:");
}

void append_policy_item(Appender& out, std::string_view name_item, std::int64_t quota,
                        Duration refill) {
  append_sf_integer(out.add(name_item).add(";q="), quota);
  if (refill == Duration{0}) {
    out.add(";qu=\"concurrent-requests\"");
  } else {
    append_sf_integer(out.add(";w="), std::max<std::int64_t>(1, ceil_seconds(refill)));
  }
}

void add_standard_fields(FieldSection::Writer& to, std::span<const PolicyReport> reports,
                         bool partition_key) {
  Appender* out = &to.begin("RateLimit-Policy");
  std::string_view separator;
  for (const PolicyReport& report : reports) {
    if (!is_listed(reports, report)) continue;
    out->add(separator);
    if (report.refill)
      append_policy_item(*out, report.name_item, report.limit, *report.refill);
    else
      out->add(report.policy_item);
    if (partition_key) append_partition_key(*out, report.partition);
    separator = ", ";
  }
  out = &to.begin("RateLimit");
  separator = {};
  for (const PolicyReport& report : reports) {
    if (!is_listed(reports, report)) continue;
    out->add(separator).add(report.name_item).add(";r=");
    append_sf_integer(*out, report.remaining);
    if (report.more_after > Duration{0}) {
      out->add(";t=");
      append_sf_integer(*out, ceil_seconds(report.more_after));
    }
    if (partition_key) append_partition_key(*out, report.partition);
    separator = ", ";
  }
}

/// The names of the older fields.
struct Triple {
  std::string_view limit;
  std::string_view remaining;
  std::string_view reset;
};
constexpr Triple ratelimit_triple{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"};
constexpr Triple x_ratelimit_triple{"X-RateLimit-Limit", "X-RateLimit-Remaining",
                                    "X-RateLimit-Reset"};

void add_triple(FieldSection::Writer& to, const Triple& names, const PolicyReport& report) {
  to.begin(names.limit).number(report.limit);
  to.begin(names.remaining).number(report.remaining);
  to.begin(names.reset).number(ceil_seconds(report.reset_after));
}

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

constexpr std::size_t http_date_size = 29;

/// Writes `http_date_size` characters, and returns their end.
char* put_http_date(char* to, Instant at) {
  const sys_seconds second = std::clamp(floor<seconds>(at), earliest, latest);
  const sys_days day = floor<days>(second);
  const year_month_day date{day};
  const hh_mm_ss time{second - day};
  const auto year_number = static_cast<unsigned>(static_cast<int>(date.year()));

  char* end = put_name(to, weekdays, weekday{day}.c_encoding());
  end = put_two_digits(put(end, ", "), static_cast<unsigned>(date.day()));
  end = put_name(put(end, " "), months, static_cast<unsigned>(date.month()) - 1);
  end = put_two_digits(put(end, " "), year_number / 100);
  end = put_two_digits(end, year_number % 100);
  end = put_two_digits(put(end, " "), static_cast<unsigned>(time.hours().count()));
  end = put_two_digits(put(end, ":"), static_cast<unsigned>(time.minutes().count()));
  end = put_two_digits(put(end, ":"), static_cast<unsigned>(time.seconds().count()));
  return put(end, " GMT");
}

}  // namespace

bool is_closer_to_exhaustion(const Standing& a, const Standing& b) {
  const Wide share_of_a = product(a.remaining, b.limit);
  const Wide share_of_b = product(b.remaining, a.limit);
  return share_of_a != share_of_b ? share_of_a < share_of_b : a.reset_after > b.reset_after;
}

std::string name_item(std::string_view name) {
  std::string item = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') item += '\\';
    item += c;
  }
  return item += '"';
}

std::string policy_item(std::string_view name, std::int64_t quota, Duration refill) {
  std::string item;
  {
    Appender end(item);
    append_policy_item(end, name_item(name), quota, refill);
  }
  return item;
}

void add_rate_limit_fields(FieldSection& to, std::span<const PolicyReport> reports,
                           const ResponseFieldOptions& options) {
  if (reports.empty()) return;
  FieldSection::Writer out(to);
  if (options.standard) add_standard_fields(out, reports, options.partition_key);
  if (options.legacy == LegacyFields::none) return;
  const auto closest = std::min_element(reports.begin(), reports.end(), comes_before);
  const bool has_x = options.legacy == LegacyFields::x_ratelimit;
  add_triple(out, has_x ? x_ratelimit_triple : ratelimit_triple, *closest);
}

void add_retry_after(FieldSection& to, std::int64_t seconds, RetryAfterForm form, Instant now) {
  char text[http_date_size];  // longer than a number
  const char* const end = form == RetryAfterForm::seconds
                              ? std::to_chars(text, std::end(text), seconds).ptr
                              : put_http_date(text, retry_instant(seconds, form, now));
  to.add("Retry-After", {text, end});
}

Instant retry_instant(std::int64_t seconds, RetryAfterForm form, Instant now) {
  constexpr std::int64_t a_millennium = 31'556'952'000;
  const Instant from =
      form == RetryAfterForm::seconds ? now : std::chrono::ceil<std::chrono::seconds>(now);
  return from + std::chrono::seconds{std::min(seconds, a_millennium)};
}

std::int64_t retry_after_seconds(Duration retry_after, Duration jitter, std::uint64_t random) {
  if (jitter > Duration{0}) {
    const std::uint64_t choices = static_cast<std::uint64_t>(to_us(jitter)) + 1;
    retry_after += Duration{static_cast<std::int64_t>(random % choices)};
  }
  return std::max<std::int64_t>(1, ceil_seconds(retry_after));
}

void append_http_date(std::string& out, Instant at) {
  char text[http_date_size];
  out.append(text, put_http_date(text, at));
}

}  // namespace weir::http
