#include "log/access_log.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/appender.hpp"
#include "json/write.hpp"

namespace weir::log {
namespace {

/// The status that nginx logs for a client that disconnected before a response; the format requires
/// a number.
constexpr int status_of_nothing = 499;

constexpr std::uint64_t every_line = std::uint64_t{1} << 32;

/// RFC 3339 in UTC: `2025-01-31T23:59:59.000001Z`.
void append_time(Appender& out, Instant at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto us = static_cast<std::uint64_t>(to_us(at - day));
  const auto s = static_cast<std::uint32_t>(us / 1'000'000);
  out.padded<4>(static_cast<unsigned>(static_cast<int>(date.year()))).add('-');
  out.padded<2>(static_cast<unsigned>(date.month())).add('-');
  out.padded<2>(static_cast<unsigned>(date.day())).add('T');
  out.padded<2>(s / 3'600).add(':').padded<2>(s / 60 % 60).add(':').padded<2>(s % 60).add('.');
  out.padded<6>(static_cast<std::uint32_t>(us % 1'000'000)).add('Z');
}

/// `31/Jan/2025:23:59:59 +0000`.
void append_clf_time(Appender& out, Instant at) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const auto s = static_cast<std::uint32_t>(to_us(at - day) / 1'000'000);
  out.padded<2>(static_cast<unsigned>(date.day())).add('/');
  out.add(months.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3)).add('/');
  out.padded<4>(static_cast<unsigned>(static_cast<int>(date.year()))).add(':');
  out.padded<2>(s / 3'600).add(':').padded<2>(s / 60 % 60).add(':').padded<2>(s % 60);
  out.add(" +0000");
}

/// Inside quotes, escaped as by Apache and nginx: `\x22`.
void append_clf_text(Appender& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out.add(c);
    } else {
      out.add("\\x").add(digits[byte >> 4]).add(digits[byte & 0xF]);
    }
  }
}

/// Appends the members one after the other; keys contain their punctuation: `,"key":`.
class Line {
 public:
  explicit Line(std::string& out) : out_(out) {}

  Line& time(std::string_view key, Instant at) {
    append_time(out_.add(key).add('"'), at);
    out_.add('"');
    return *this;
  }
  /// Appends a value from a request or from the configuration, escaped.
  Line& text(std::string_view key, std::string_view value) {
    out_.add(key);
    if (value.empty()) return null();
    json::append_string(out_, value);
    return *this;
  }
  /// Appends a value of this program, which needs no escapes.
  Line& word(std::string_view key, std::string_view value) {
    out_.add(key);
    return value.empty() ? null() : quoted(value);
  }
  /// A word, and a code that belongs to it.
  Line& word(std::string_view key, std::string_view value, std::string_view code) {
    if (code.empty()) return word(key, value);
    out_.add(key).add('"').add(value).add(':').add(code).add('"');
    return *this;
  }
  template <class Number>
  Line& number(std::string_view key, Number value) {
    out_.add(key).number(value);
    return *this;
  }
  Line& number(std::string_view key, std::optional<std::int64_t> value) {
    if (value) return number(key, *value);
    out_.add(key);
    return null();
  }
  Line& duration(std::string_view key, std::optional<Duration> value) {
    return number(key, value ? std::optional(to_us(*value)) : std::nullopt);
  }
  /// In microseconds since the epoch.
  Line& instant(std::string_view key, std::optional<Instant> value) {
    return duration(key, value ? std::optional(value->time_since_epoch()) : std::nullopt);
  }
  /// Rounds up.
  Line& milliseconds(std::string_view key, std::optional<Duration> value) {
    return number(key, value ? std::optional((to_us(*value) + 999) / 1000) : std::nullopt);
  }
  Line& address(std::string_view key, const std::optional<IpAddress>& value) {
    out_.add(key);
    if (!value) return null();
    return quoted(value->text());
  }
  Line& hash(std::string_view key, const std::optional<Hash128>& value) {
    out_.add(key);
    if (!value) return null();
    append_hex(out_.add('"'), *value);
    out_.add('"');
    return *this;
  }
  Line& denied(std::string_view key, std::span<const DeniedPolicy> all) {
    out_.add(key);
    if (all.empty()) return null();
    std::string_view separator = "[";
    for (const DeniedPolicy& one : all) {
      out_.add(separator);
      text("{\"policy\":", one.policy);
      word(",\"outcome\":", one.shadow ? "shadow_denied" : "denied");
      number(",\"remaining\":", one.remaining);
      out_.add('}');
      separator = ",";
    }
    out_.add(']');
    return *this;
  }
  /// In microseconds since `begin`.
  Line& instants(std::string_view key, std::span<const Instant> all, Instant begin) {
    out_.add(key);
    if (all.empty()) return null();
    char separator = '[';
    for (const Instant at : all) {
      out_.add(separator).number(to_us(at - begin));
      separator = ',';
    }
    out_.add(']');
    return *this;
  }
  Line& limits(std::string_view key, std::span<const OtherLimit> all) {
    out_.add(key);
    if (all.empty()) return null();
    std::string_view separator = "[";
    for (const OtherLimit& one : all) {
      out_.add(separator);
      text("{\"policy\":", one.policy);
      hash(",\"identity\":", one.identity);
      text(",\"identity_kind\":", one.identity_kind);
      number(",\"cost\":", one.cost);
      number(",\"reserved\":", one.reserved);
      out_.add('}');
      separator = ",";
    }
    out_.add(']');
    return *this;
  }
  void end() { out_.add("}\n"); }

 private:
  Line& null() {
    out_.add("null");
    return *this;
  }
  Line& quoted(std::string_view value) {
    out_.add('"').add(value).add('"');
    return *this;
  }

  Appender out_;
};

}  // namespace

std::string_view to_string(AbortedBy party) {
  switch (party) {
    case AbortedBy::none:
      return {};
    case AbortedBy::client:
      return "client";
    case AbortedBy::upstream:
      return "upstream";
    case AbortedBy::shutdown:
      return "shutdown";
  }
  return {};
}

std::string_view to_string(AccessDecision decision) {
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
    case AccessDecision::settled:
      return "settled";
    case AccessDecision::error:
      return "error";
  }
  return {};
}

std::string_view to_string(UpstreamError error) {
  switch (error) {
    case UpstreamError::none:
      return {};
    case UpstreamError::unreachable:
      return "unreachable";
    case UpstreamError::connect_timeout:
      return "connect_timeout";
    case UpstreamError::closed:
      return "closed";
    case UpstreamError::refused_stream:
      return "refused_stream";
    case UpstreamError::reset:
      return "reset";
    case UpstreamError::goaway:
      return "goaway";
    case UpstreamError::invalid:
      return "invalid";
    case UpstreamError::timeout:
      return "timeout";
    case UpstreamError::unhealthy:
      return "unhealthy";
  }
  return {};
}

void append_json_line(std::string& text, const AccessRecord& record) {
  Line(text)
      .time(R"({"time":)", record.time)
      .text(R"(,"method":)", record.method)
      .text(R"(,"path":)", record.path)
      .text(R"(,"route":)", record.route)
      .text(R"(,"plan":)", record.plan)
      .number(R"(,"status":)",
              record.status == 0 ? std::nullopt : std::optional<std::int64_t>(record.status))
      .word(R"(,"aborted_by":)", to_string(record.aborted_by))
      .number(R"(,"bytes_in":)", record.bytes_in)
      .number(R"(,"bytes_out":)", record.bytes_out)
      .duration(R"(,"duration_us":)", record.duration)
      .text(R"(,"upstream":)", record.upstream)
      .text(R"(,"upstream_server":)", record.upstream_server)
      .duration(R"(,"upstream_us":)", record.upstream_took)
      .word(R"(,"upstream_error":)", to_string(record.upstream_error), record.upstream_error_code)
      .word(R"(,"decision":)", to_string(record.decision))
      .text(R"(,"policy":)", record.policy)
      .denied(R"(,"denied_by":)", record.denied_by)
      .number(R"(,"cost":)", record.cost)
      .number(R"(,"reserved":)", record.reserved)
      .word(R"(,"settled_by":)", record.settled_by)
      .number(R"(,"remaining":)", record.remaining)
      .milliseconds(R"(,"retry_after_ms":)", record.retry_after)
      .duration(R"(,"delay_us":)", record.delay)
      .duration(R"(,"decision_us":)", record.decision_took)
      .instant(R"(,"decided_at":)", record.decided_at)
      .instants(R"(,"queue_us":)", record.queue_steps, record.time)
      .word(R"(,"store":)", record.store)
      .address(R"(,"client":)", record.client)
      .hash(R"(,"identity":)", record.identity)
      .text(R"(,"identity_kind":)", record.identity_kind)
      .limits(R"(,"other_limits":)", record.other_limits)
      .text(R"(,"request_id":)", record.request_id)
      .word(R"(,"trace_id":)", record.trace_id)
      .text(R"(,"user_agent":)", record.user_agent)
      .word(R"(,"protocol":)", record.protocol)
      .number(R"(,"grpc_status":)", record.grpc_status)
      .end();
}

void append_text_line(std::string& text, const AccessRecord& record) {
  Appender out(text);
  if (record.client) {
    out.add(record.client->text());
  } else {
    out.add('-');
  }
  out.add(" - ");
  if (record.identity) {
    append_hex(out, *record.identity);
  } else {
    out.add('-');
  }
  append_clf_time(out.add(" ["), record.time);
  out.add("] \"");
  if (record.method.empty()) {
    out.add('-');
  } else {
    append_clf_text(out, record.method);
    append_clf_text(out.add(' '), record.path);
    out.add(' ').add(record.protocol);
  }
  out.add("\" ").number(record.status == 0 ? status_of_nothing : record.status);
  out.add(' ').number(record.bytes_out).add(" \"-\" \"");
  append_clf_text(out, record.user_agent.empty() ? "-" : record.user_agent);
  out.add("\"\n");
}

AccessLog::AccessLog(const AccessLogOptions& options, LineWriter& writer, std::uint64_t seed)
    : buffer_(writer),
      all_(options.path != "off" && options.only == AccessLogOptions::Only::all),
      denied_(options.path != "off"),
      append_line_(options.format == AccessLogOptions::Format::json ? append_json_line
                                                                    : append_text_line),
      threshold_(static_cast<std::uint64_t>(
          std::ceil(std::clamp(options.sample, 0.0, 1.0) * static_cast<double>(every_line)))),
      random_(seed) {}

bool AccessLog::wants(bool denied) {
  return (denied ? denied_ : all_) && is_sampled();
}

// Random instead of every n-th line, because a counter can synchronize with periodic traffic.
bool AccessLog::is_sampled() {
  if (threshold_ == every_line) return true;
  return random_.next() >> 32 < threshold_;
}

}  // namespace weir::log
