#include "proxy/access_log.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "http/append_number.hpp"
#include "http/problem.hpp"

namespace weir::proxy {
namespace {

/// What nginx logs of a client that went away before an answer; the format has a number there.
constexpr int status_of_nothing = 499;

constexpr std::uint64_t every_line = std::uint64_t{1} << 32;

/// `value` with leading zeros.
template <std::size_t Digits>
void append_padded(std::string& out, std::uint64_t value) {
  std::array<char, Digits> text;
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value /= 10) {
    *digit = static_cast<char>('0' + value % 10);
  }
  out.append(text.data(), text.size());
}

/// RFC 3339 in UTC: `2025-01-31T23:59:59.000001Z`.
void append_time(std::string& out, Instant at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto us = static_cast<std::uint64_t>(to_us(at - day));
  append_padded<4>(out, static_cast<std::uint64_t>(static_cast<int>(date.year())));
  out += '-';
  append_padded<2>(out, static_cast<unsigned>(date.month()));
  out += '-';
  append_padded<2>(out, static_cast<unsigned>(date.day()));
  out += 'T';
  append_padded<2>(out, us / 3'600'000'000);
  out += ':';
  append_padded<2>(out, us / 60'000'000 % 60);
  out += ':';
  append_padded<2>(out, us / 1'000'000 % 60);
  out += '.';
  append_padded<6>(out, us % 1'000'000);
  out += 'Z';
}

/// `31/Jan/2025:23:59:59 +0000`.
void append_clf_time(std::string& out, Instant at) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto s = static_cast<std::uint64_t>(to_us(at - day)) / 1'000'000;
  append_padded<2>(out, static_cast<unsigned>(date.day()));
  out.append("/").append(months.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
  out += '/';
  append_padded<4>(out, static_cast<std::uint64_t>(static_cast<int>(date.year())));
  out += ':';
  append_padded<2>(out, s / 3'600);
  out += ':';
  append_padded<2>(out, s / 60 % 60);
  out += ':';
  append_padded<2>(out, s % 60);
  out += " +0000";
}

/// Inside quotes, escaped as by Apache and nginx: `\x22`.
void append_clf_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
    } else {
      out += "\\x";
      out += "0123456789ABCDEF"[byte >> 4];
      out += "0123456789ABCDEF"[byte & 0xF];
    }
  }
}

/// Without a branch a character, so that many are looked at together.
bool needs_no_escape(std::string_view text) {
  unsigned odd = 0;
  for (const char c : text) {
    odd |= static_cast<unsigned>(c < ' ') | static_cast<unsigned>(c > '~') |
           static_cast<unsigned>(c == '"') | static_cast<unsigned>(c == '\\');
  }
  return odd == 0;
}

std::string_view word(AccessDecision decision) {
  switch (decision) {
    case AccessDecision::none:
      return {};
    case AccessDecision::allowed:
      return "allowed";
    case AccessDecision::denied:
      return "denied";
    case AccessDecision::shadow_denied:
      return "shadow_denied";
    case AccessDecision::delayed:
      return "delayed";
    case AccessDecision::error:
      return "error";
  }
  return {};
}

/// One member after the other; keys carry their punctuation: `,"key":`.
class Line {
 public:
  explicit Line(std::string& out) : out_(out) {}

  Line& time(std::string_view key, Instant at) {
    out_.append(key) += '"';
    append_time(out_, at);
    out_ += '"';
    return *this;
  }
  Line& text(std::string_view key, std::string_view value) {
    out_ += key;
    if (value.empty()) return null();
    if (!needs_no_escape(value)) {
      http::append_json_string(out_, value);
      return *this;
    }
    (out_ += '"').append(value) += '"';
    return *this;
  }
  template <class Number>
  Line& number(std::string_view key, Number value) {
    out_ += key;
    http::append_number(out_, value);
    return *this;
  }
  Line& number(std::string_view key, std::optional<std::int64_t> value) {
    if (value) return number(key, *value);
    out_ += key;
    return null();
  }
  Line& duration(std::string_view key, std::optional<Duration> value) {
    return number(key, value ? std::optional(to_us(*value)) : std::nullopt);
  }
  Line& address(std::string_view key, const std::optional<identity::IpAddress>& value) {
    out_ += key;
    if (!value) return null();
    out_ += '"';
    value->append_to(out_);
    out_ += '"';
    return *this;
  }
  Line& hash(std::string_view key, const std::optional<Hash128>& value) {
    out_ += key;
    if (!value) return null();
    out_ += '"';
    append_hex(out_, *value);
    out_ += '"';
    return *this;
  }

 private:
  Line& null() {
    out_ += "null";
    return *this;
  }

  std::string& out_;
};

}  // namespace

void append_json_line(std::string& out, const AccessRecord& record) {
  Line(out)
      .time(R"({"time":)", record.time)
      .text(R"(,"method":)", record.method)
      .text(R"(,"path":)", record.path)
      .text(R"(,"route":)", record.route)
      .number(R"(,"status":)",
              record.status == 0 ? std::nullopt : std::optional<std::int64_t>(record.status))
      .number(R"(,"bytes_in":)", record.bytes_in)
      .number(R"(,"bytes_out":)", record.bytes_out)
      .duration(R"(,"duration_us":)", record.duration)
      .text(R"(,"upstream":)", record.upstream)
      .duration(R"(,"upstream_us":)", record.upstream_took)
      .text(R"(,"decision":)", word(record.decision))
      .text(R"(,"policy":)", record.policy)
      .number(R"(,"cost":)", record.cost)
      .number(R"(,"remaining":)", record.remaining)
      .duration(R"(,"delay_us":)", record.delay)
      .duration(R"(,"decision_us":)", record.decision_took)
      .text(R"(,"store":)", record.store)
      .address(R"(,"client":)", record.client)
      .hash(R"(,"identity":)", record.identity)
      .text(R"(,"request_id":)", record.request_id)
      .text(R"(,"user_agent":)", record.user_agent)
      .text(R"(,"protocol":)", record.protocol);
  out += "}\n";
}

void append_text_line(std::string& out, const AccessRecord& record) {
  if (record.client) {
    record.client->append_to(out);
  } else {
    out += '-';
  }
  out += " - ";
  if (record.identity) {
    append_hex(out, *record.identity);
  } else {
    out += '-';
  }
  out += " [";
  append_clf_time(out, record.time);
  out += "] \"";
  if (record.method.empty()) {
    out += '-';
  } else {
    append_clf_text(out, record.method);
    out += ' ';
    append_clf_text(out, record.path);
    out += ' ';
    out += record.protocol;
  }
  out += "\" ";
  http::append_number(out, record.status == 0 ? status_of_nothing : record.status);
  out += ' ';
  http::append_number(out, record.bytes_out);
  out += " \"-\" \"";
  append_clf_text(out, record.user_agent.empty() ? "-" : record.user_agent);
  out += "\"\n";
}

AccessLog::AccessLog(const config::AccessLog& options, LineWriter& writer, std::uint64_t seed)
    : buffer_(writer),
      all_(options.path != "off" && options.only == config::AccessLog::Only::all),
      denied_(options.path != "off"),
      append_line_(options.format == config::AccessLog::Format::json ? append_json_line
                                                                     : append_text_line),
      threshold_(static_cast<std::uint64_t>(
          std::ceil(std::clamp(options.sample, 0.0, 1.0) * static_cast<double>(every_line)))),
      random_(seed) {}

bool AccessLog::wants(bool denied) {
  return (denied ? denied_ : all_) && is_sampled();
}

// Random rather than every n-th: a count falls into step with periodic traffic. SplitMix64 (Steele,
// Lea and Flood, 2014).
bool AccessLog::is_sampled() {
  if (threshold_ == every_line) return true;
  std::uint64_t mixed = random_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return (mixed ^ mixed >> 31) >> 32 < threshold_;
}

}  // namespace weir::proxy
