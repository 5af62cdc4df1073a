#include "reference.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

namespace weir::fuzz {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 ||
                        token_marks.find(static_cast<char>(c)) != std::string_view::npos);
  });
}

bool is_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> elements(std::string_view list) {
  std::vector<std::string_view> found;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (const auto one = trimmed(list.substr(0, end)); !one.empty()) found.push_back(one);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return found;
}

/// The line at the front; none if it has not ended.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find(line_end);
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(0, end);
  text.remove_prefix(end + line_end.size());
  return line;
}

std::optional<std::uint64_t> number(std::string_view digits, int base) {
  if (digits.empty() || digits.size() > (base == 16 ? 16U : 18U)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit_character : digits) {
    const auto c = static_cast<unsigned char>(digit_character);
    if (base == 16 ? std::isxdigit(c) == 0 : std::isdigit(c) == 0) return std::nullopt;
    const int digit = std::isdigit(c) != 0 ? c - '0' : std::tolower(c) - 'a' + 10;
    value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
  }
  return value;
}

/// Field lines up to the empty one. A line that has not ended is looked at all the same.
Message::State take_fields(std::string_view& text, std::vector<Field>& fields) {
  for (;;) {
    const auto line = take_line(text);
    if (!line) {
      const auto name = text.substr(0, std::min(text.find(':'), text.find('\r')));
      return name.empty() || is_token(name) ? Message::State::incomplete
                                            : Message::State::malformed;
    }
    if (line->empty()) return Message::State::complete;
    const auto colon = line->find(':');
    if (colon == std::string_view::npos || !is_token(line->substr(0, colon)) ||
        !is_text(line->substr(colon + 1)))
      return Message::State::malformed;
    fields.push_back({line->substr(0, colon), trimmed(line->substr(colon + 1))});
  }
}

/// Splits at the first two spaces; the rest may have more (a reason does).
bool split_first_line(Message& message, std::string_view line) {
  const auto one = line.find(' ');
  const auto two = one == std::string_view::npos ? one : line.find(' ', one + 1);
  if (two == std::string_view::npos) return false;
  message.first = line.substr(0, one);
  message.second = line.substr(one + 1, two - one - 1);
  message.third = line.substr(two + 1);
  return true;
}

/// Returns false if it is ambiguous, or must not be forwarded.
bool find_framing(Message& message, bool lenient) {
  const auto lengths = message.count("content-length");
  const auto codings = message.count("transfer-encoding");
  if (codings > 0) {
    const bool is_plain = codings == 1 && equals(message.value("transfer-encoding"), "chunked");
    std::vector<std::string_view> all;
    for (const auto& field : message.fields) {
      if (!equals(field.name, "transfer-encoding")) continue;
      for (const auto coding : elements(field.value))
        all.push_back(coding);
    }
    const bool is_chunked = all.size() == 1 && equals(all[0], "chunked");
    if (lengths > 0 || message.is_old() || !(is_plain || (lenient && is_chunked))) return false;
    message.framing = Message::Body::chunked;
  } else if (lengths > 0) {
    if (lengths > 1 || !number(message.value("content-length"), 10)) {
      // Longer than any input here.
      const auto value = message.value("content-length");
      const bool is_long = lengths == 1 && value.size() > 18 && value.size() < 4096 &&
                           value.find_first_not_of("0123456789") == std::string_view::npos;
      if (!is_long) return false;
    }
    message.framing = Message::Body::length;
  }
  return true;
}

void take_length(Message& message, std::string_view& rest) {
  const auto value = message.value("content-length");
  const auto significant = value.substr(std::min(value.find_first_not_of('0'), value.size()));
  const auto length = significant.empty() ? 0 : number(significant, 10).value_or(UINT64_MAX);
  const auto has = std::min<std::uint64_t>(length, rest.size());
  message.body = rest.substr(0, has);
  rest.remove_prefix(has);
  message.state = has == length ? Message::State::complete : Message::State::incomplete;
}

Message::State take_chunks(Message& message, std::string_view& rest, bool lenient) {
  for (;;) {
    const auto line = take_line(rest);
    if (!line) {
      const bool may_go_on = rest.empty() || std::isxdigit(static_cast<unsigned char>(rest[0]));
      return may_go_on ? Message::State::incomplete : Message::State::malformed;
    }
    std::string_view digits = line->substr(0, line->find(';'));
    if (!lenient && digits.size() != line->size()) return Message::State::malformed;
    if (lenient) digits = trimmed(digits);
    const auto size = number(digits, 16);
    if (!size || (!lenient && *size != 0 && digits[0] == '0') || !is_text(*line))
      return Message::State::malformed;
    if (*size == 0) return take_fields(rest, message.trailers);
    const auto has = std::min<std::uint64_t>(*size, rest.size());
    message.body.append(rest.substr(0, has));
    rest.remove_prefix(has);
    if (has < *size || rest.size() < 2) {
      return rest.empty() || rest == "\r" ? Message::State::incomplete : Message::State::malformed;
    }
    if (!rest.starts_with(line_end)) return Message::State::malformed;
    rest.remove_prefix(line_end.size());
  }
}

void take_body(Message& message, std::string_view& rest, bool lenient) {
  switch (message.framing) {
    case Message::Body::none:
      message.state = Message::State::complete;
      break;
    case Message::Body::length:
      take_length(message, rest);
      break;
    case Message::Body::chunked:
      message.state = take_chunks(message, rest, lenient);
      break;
    case Message::Body::until_close:
      message.body = rest;
      rest = {};
      break;
  }
}

bool is_request_line(const Message& message) {
  const bool is_clean = std::all_of(message.second.begin(), message.second.end(),
                                    [](unsigned char c) { return c > 0x20 && c != 0x7f; });
  return is_token(message.first) && !message.second.empty() && is_clean &&
         (message.third == "HTTP/1.1" || message.third == "HTTP/1.0");
}

bool is_status_line(const Message& message) {
  return message.first == "HTTP/1.1" && message.second.size() == 3 &&
         number(message.second, 10).value_or(0) >= 100 && is_text(message.third);
}

/// The first line and the fields. Returns false with the reason in `state`.
bool take_head(Message& message, std::string_view& rest, bool is_request) {
  const auto line = take_line(rest);
  if (!line) return false;
  message.state = Message::State::malformed;
  if (!split_first_line(message, *line)) return false;
  if (is_request ? !is_request_line(message) : !is_status_line(message)) return false;
  message.state = take_fields(rest, message.fields);
  message.has_head = message.state == Message::State::complete;
  return message.has_head;
}

}  // namespace

bool equals(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::size_t Message::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(),
                    [name](const Field& field) { return equals(field.name, name); }));
}

std::string_view Message::value(std::string_view name) const {
  for (const auto& field : fields) {
    if (equals(field.name, name)) return field.value;
  }
  return {};
}

bool Message::has_option(std::string_view option) const {
  for (const auto& field : fields) {
    if (!equals(field.name, "connection")) continue;
    for (const auto one : elements(field.value)) {
      if (equals(one, option)) return true;
    }
  }
  return false;
}

int Message::status() const {
  return static_cast<int>(number(second, 10).value_or(0));
}

Message read_request(std::string_view text, bool lenient) {
  Message message;
  std::string_view rest = text;
  while (lenient && rest.starts_with(line_end))
    rest.remove_prefix(line_end.size());
  if (take_head(message, rest, true)) {
    message.head_size = text.size() - rest.size();
    if (find_framing(message, lenient)) {
      take_body(message, rest, lenient);
    } else {
      message.state = Message::State::malformed;
    }
  }
  message.size = text.size() - rest.size();
  return message;
}

Message read_answer(std::string_view text, std::string_view method, bool has_ended) {
  Message message;
  std::string_view rest = text;
  if (take_head(message, rest, false)) {
    message.head_size = text.size() - rest.size();
    const int status = message.status();
    const bool is_bodiless = status < 200 || status == 204;
    if (!find_framing(message, false) || (is_bodiless && message.framing != Message::Body::none)) {
      message.state = Message::State::malformed;
    } else {
      if (is_bodiless || status == 304 || method == "HEAD") {
        message.framing = Message::Body::none;
      } else if (message.framing == Message::Body::none) {
        message.framing = Message::Body::until_close;
      }
      take_body(message, rest, false);
      if (message.framing == Message::Body::until_close && has_ended)
        message.state = Message::State::complete;
    }
  }
  message.size = text.size() - rest.size();
  return message;
}

}  // namespace weir::fuzz
