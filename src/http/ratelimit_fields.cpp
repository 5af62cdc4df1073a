#include "http/ratelimit_fields.hpp"

#include <algorithm>

#include "http/append_number.hpp"

namespace weir::http {
namespace {

__extension__ using Wide = unsigned __int128;

// RFC 9651 section 3.3.1: a structured field's Integer has at most 15 digits.
void append_sf_integer(std::string& out, std::int64_t number) {
  append_number(out, std::clamp<std::int64_t>(number, 0, 999'999'999'999'999));
}

Wide product(std::int64_t a, std::int64_t b) {
  return Wide{static_cast<std::uint64_t>(std::max<std::int64_t>(a, 0))} *
         static_cast<std::uint64_t>(std::max<std::int64_t>(b, 0));
}

bool is_closer_to_exhaustion(const PolicyReport& a, const PolicyReport& b) {
  const Wide share_of_a = product(a.remaining, b.limit);
  const Wide share_of_b = product(b.remaining, a.limit);
  return share_of_a != share_of_b ? share_of_a < share_of_b : a.reset_after > b.reset_after;
}

void append_standard_fields(std::string& out, std::span<const PolicyReport> reports) {
  std::string_view separator = "RateLimit-Policy: ";
  for (const PolicyReport& report : reports) {
    out.append(separator).append(report.policy_item);
    separator = ", ";
  }
  separator = "\r\nRateLimit: ";
  for (const PolicyReport& report : reports) {
    out.append(separator).append(report.name_item).append(";r=");
    append_sf_integer(out, report.remaining);
    if (report.more_after > Duration{0}) {
      out.append(";t=");
      append_sf_integer(out, ceil_seconds(report.more_after));
    }
    separator = ", ";
  }
  out.append("\r\n");
}

void append_triple(std::string& out, std::string_view prefix, const PolicyReport& report) {
  out.append(prefix).append("RateLimit-Limit: ");
  append_number(out, report.limit);
  out.append("\r\n").append(prefix).append("RateLimit-Remaining: ");
  append_number(out, report.remaining);
  out.append("\r\n").append(prefix).append("RateLimit-Reset: ");
  append_number(out, ceil_seconds(report.reset_after));
  out.append("\r\n");
}

}  // namespace

std::string name_item(std::string_view name) {
  std::string item = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') item += '\\';
    item += c;
  }
  return item += '"';
}

std::string policy_item(std::string_view name, std::int64_t quota, Duration refill) {
  std::string item = name_item(name);
  item += ";q=";
  append_sf_integer(item, quota);
  item += ";w=";
  append_sf_integer(item, std::max<std::int64_t>(1, ceil_seconds(refill)));
  return item;
}

void append_rate_limit_fields(std::string& out, std::span<const PolicyReport> reports,
                              const ResponseFieldOptions& options) {
  if (reports.empty()) return;
  if (options.standard) append_standard_fields(out, reports);
  if (options.legacy == LegacyFields::none) return;
  const auto closest = std::min_element(reports.begin(), reports.end(), is_closer_to_exhaustion);
  append_triple(out, options.legacy == LegacyFields::x_ratelimit ? "X-" : "", *closest);
}

void append_retry_after(std::string& out, std::int64_t seconds, RetryAfterForm form, Instant now) {
  out.append("Retry-After: ");
  if (form == RetryAfterForm::seconds) {
    append_number(out, seconds);
  } else {
    // Counted from the next whole second: a date has no fraction, and it must not be earlier than
    // the moment meant.
    constexpr std::int64_t a_millennium = 31'556'952'000;
    append_http_date(out, std::chrono::ceil<std::chrono::seconds>(now) +
                              std::chrono::seconds{std::min(seconds, a_millennium)});
  }
  out.append("\r\n");
}

std::int64_t retry_after_seconds(Duration retry_after, Duration jitter, std::uint64_t random) {
  if (jitter > Duration{0}) {
    const std::uint64_t choices = static_cast<std::uint64_t>(to_us(jitter)) + 1;
    retry_after += Duration{static_cast<std::int64_t>(random % choices)};
  }
  return std::max<std::int64_t>(1, ceil_seconds(retry_after));
}

}  // namespace weir::http
