#include "replay/text_line.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "base/text.hpp"

namespace weir::replay {
namespace {

constexpr std::string_view absent = "-";

std::string_view or_empty(std::string_view text) {
  return text == absent ? std::string_view() : text;
}

/// The place of the quote that ends a part with escapes.
std::size_t end_of_escaped(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Takes a part in quotes, with its escapes, and the blank after it. Empty: it is not there.
std::optional<std::string_view> take_quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::size_t end = rest.find('"', 1);
  // The quote ends the part unless an escape before it may have taken it.
  if (rest.substr(0, end).find('\\') != std::string_view::npos) end = end_of_escaped(rest);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view part = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  return part;
}

/// Appends the bytes that a part stands for. An unknown escape stands for itself.
void append_unescaped(std::string& out, std::string_view part) {
  while (!part.empty()) {
    const std::size_t plain = std::min(part.find('\\'), part.size());
    out.append(part.substr(0, plain));
    part.remove_prefix(plain);
    if (part.size() < 2) {
      out.append(part);
      return;
    }
    const char kind = part[1];
    const auto byte = kind == 'x' && part.size() >= 4
                          ? parse_number<unsigned char>(part.substr(2, 2), 16)
                          : std::nullopt;
    if (byte) {
      out += static_cast<char>(*byte);
      part.remove_prefix(4);
      continue;
    }
    switch (kind) {
      case '"':
      case '\\':
        out += kind;
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      default:
        out.append(part.substr(0, 2));
    }
    part.remove_prefix(2);
  }
}

std::optional<int> number_at(std::string_view text, std::size_t at, std::size_t digits) {
  return parse_number<int>(text.substr(at, digits));
}

}  // namespace

std::optional<Instant> parse_log_time(std::string_view text) {
  namespace chrono = std::chrono;
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::string_view form = "00/Mon/0000:00:00:00 +0000";
  if (text.size() != form.size()) return std::nullopt;
  for (const std::size_t at : {2, 6, 11, 14, 17, 20}) {
    if (text[at] != form[at]) return std::nullopt;
  }
  const std::size_t month = months.find(text.substr(3, 3));
  const auto day = number_at(text, 0, 2), year = number_at(text, 7, 4);
  const auto hour = number_at(text, 12, 2), minute = number_at(text, 15, 2);
  const auto second = number_at(text, 18, 2);
  const auto zone_hour = number_at(text, 22, 2), zone_minute = number_at(text, 24, 2);
  const char sign = text[21];
  const bool has_numbers = day && year && hour && minute && second && zone_hour && zone_minute;
  if (!has_numbers || month == std::string_view::npos || month % 3 != 0 ||
      (sign != '+' && sign != '-'))
    return std::nullopt;
  const chrono::year_month_day date{chrono::year{*year},
                                    chrono::month{static_cast<unsigned>(month / 3 + 1)},
                                    chrono::day{static_cast<unsigned>(*day)}};
  // A leap second is the first one of the next minute.
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60 || *zone_hour > 23 ||
      *zone_minute > 59 || *day < 0 || *hour < 0 || *minute < 0 || *second < 0 || *zone_hour < 0 ||
      *zone_minute < 0)
    return std::nullopt;
  const Duration zone = chrono::hours{*zone_hour} + chrono::minutes{*zone_minute};
  return Instant{chrono::sys_days{date}} + chrono::hours{*hour} + chrono::minutes{*minute} +
         chrono::seconds{*second} - (sign == '+' ? zone : -zone);
}

void read_request_line(std::string_view line, LoggedRequest& to) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return;
  if (!line.substr(last + 1).starts_with("HTTP/")) return;
  to.method = line.substr(0, first);
  to.target = line.substr(first + 1, last - first - 1);
}

Result<LoggedRequest, LineFault> TextLineReader::read(std::string_view line) {
  LoggedRequest request;
  const auto host = take_before(line, ' ');
  const auto ident = take_before(line, ' ');
  // The name of a user may have blanks; the time begins at the bracket.
  const std::size_t bracket = line.find(" [");
  if (!host || !ident || bracket == std::string_view::npos) return LineFault::form;
  request.client = IpAddress::parse(*host);
  request.user = or_empty(line.substr(0, bracket));
  line.remove_prefix(bracket + 2);
  const auto time = take_before(line, ']');
  if (!time || !line.starts_with(' ')) return LineFault::form;
  if (*time != time_text_) {
    time_ = parse_log_time(*time);
    time_text_.assign(*time);
  }
  if (!time_ || !is_decidable(*time_)) return LineFault::time;
  request.at = *time_;
  line.remove_prefix(1);

  auto request_line = take_quoted(line);
  if (!request_line) return LineFault::form;
  const std::string_view status = take_until(line, ' ');
  if (status.empty()) return LineFault::form;
  if (status != absent) {
    request.status = parse_number<int>(status);
    if (!request.status || *request.status < 100 || *request.status > 599) return LineFault::status;
  }
  take_until(line, ' ');  // bytes
  std::string_view referer = take_quoted(line).value_or(std::string_view());
  std::string_view user_agent = take_quoted(line).value_or(std::string_view());
  unescape({&*request_line, &referer, &user_agent});
  read_request_line(*request_line, request);
  request.referer = or_empty(referer);
  request.user_agent = or_empty(user_agent);
  return request;
}

/// Replaces parts that have escapes by what they stand for.
void TextLineReader::unescape(std::initializer_list<std::string_view*> parts) {
  unescaped_.clear();
  std::size_t size = 0;
  for (const std::string_view* const part : parts)
    size += part->size();
  unescaped_.reserve(size);  // no view may become invalid
  for (std::string_view* const part : parts) {
    if (part->find('\\') == std::string_view::npos) continue;
    const std::size_t begin = unescaped_.size();
    append_unescaped(unescaped_, *part);
    *part = std::string_view(unescaped_).substr(begin);
  }
}

void throw_exception_from_error(LineFault, const boost::source_location&) {
  throw std::runtime_error("the line of a log cannot be read");
}

}  // namespace weir::replay
