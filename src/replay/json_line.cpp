#include "replay/json_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "replay/text_line.hpp"

namespace weir::replay {
namespace {

constexpr std::size_t deepest = 32;

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
}

bool take(std::string_view& rest, char c) {
  skip_blanks(rest);
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

/// Takes the digits after \u. A pair of surrogates is one character, a single one is U+FFFD.
bool take_unicode(std::string_view& rest, std::string& out) {
  const auto unit = [&]() -> std::optional<std::uint32_t> {
    if (rest.size() < 4) return std::nullopt;
    const auto value = parse_number<std::uint32_t>(rest.substr(0, 4), 16);
    if (value) rest.remove_prefix(4);
    return value;
  };
  const auto first = unit();
  if (!first) return false;
  std::uint32_t code = *first;
  if (code >= 0xd800 && code <= 0xdfff) {
    const bool has_second = code <= 0xdbff && rest.starts_with("\\u");
    std::string_view after = rest;
    code = 0xfffd;
    if (has_second) {
      rest.remove_prefix(2);
      const auto second = unit();
      if (second && *second >= 0xdc00 && *second <= 0xdfff) {
        code = 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
      } else {
        rest = after;
      }
    }
  }
  append_utf8(out, code);
  return true;
}

/// Seconds, or if they would be beyond the year 5000 ms, us or ns.
std::optional<Instant> instant_of_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  double us = number;
  if (number < 1e11) {
    us = number * 1e6;
  } else if (number < 1e14) {
    us = number * 1e3;
  } else if (number >= 1e17) {
    us = number / 1e3;
  }
  if (!(us <= 1e17)) return std::nullopt;  // nor if it is no number
  return instant_from_us(std::llround(us));
}

/// A length of time in units of this many microseconds; empty: not a number of them, or negative.
std::optional<Duration> duration_of(std::string_view text, double us_per_unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const double us = number * us_per_unit;
  if (!(us >= 0 && us <= 1e15)) return std::nullopt;
  return Duration{std::llround(us)};
}

}  // namespace

JsonLineReader::JsonLineReader(JsonMembers members) {
  for (auto& [path, part] : std::initializer_list<std::pair<std::string&, Part>>{
           {members.time, Part::time},
           {members.client, Part::client},
           {members.method, Part::method},
           {members.target, Part::target},
           {members.request, Part::request},
           {members.status, Part::status},
           {members.user, Part::user},
           {members.referer, Part::referer},
           {members.user_agent, Part::user_agent},
           {members.host, Part::host},
           {members.duration, Part::duration},
           {members.duration_ms, Part::duration_ms},
           {members.duration_us, Part::duration_us},
           {members.decided_at, Part::decided_at}}) {
    if (!path.empty()) sought_.push_back({.path = std::move(path), .part = part});
  }
  for (auto& [name, path] : members.fields)
    sought_.push_back({.path = std::move(path), .part = Part::field, .name = std::move(name)});
  if (!members.is_own) return;
  for (const std::string_view name : {"request_id", "route", "plan", "upstream", "decision",
                                      "policy", "identity", "identity_kind", "aborted_by", "cost",
                                      "reserved", "remaining", "upstream_us", "grpc_status"})
    sought_.push_back({.path = std::string(name), .part = Part::own, .name = std::string(name)});
}

Result<LoggedRequest, LineFault> JsonLineReader::read(std::string_view line) {
  LoggedRequest request;
  path_.clear();
  fields_.clear();
  own_ = {};
  others_.clear();
  queue_us_.clear();
  is_own_ = false;
  unescaped_.clear();
  unescaped_.reserve(line.size());  // no view may become invalid
  request_line_ = {};
  has_time_ = has_bad_time_ = has_bad_status_ = false;
  std::string_view rest = line;
  if (!read_object(rest, request, 0)) return LineFault::form;
  skip_blanks(rest);
  if (!rest.empty()) return LineFault::form;
  if (!has_time_ || has_bad_time_ || !is_decidable(request.at)) return LineFault::time;
  if (has_bad_status_) return LineFault::status;
  if (request.method.empty() && request.target.empty()) read_request_line(request_line_, request);
  request.fields = fields_;
  if (is_own_) {
    own_.others = others_;
    own_.queue_us = queue_us_;
    request.own = own_;
  }
  return request;
}

bool JsonLineReader::read_object(std::string_view& rest, LoggedRequest& to, std::size_t depth) {
  if (depth == deepest || !take(rest, '{')) return false;
  if (take(rest, '}')) return true;
  const std::size_t before = path_.size();
  for (;;) {
    std::string_view name;
    skip_blanks(rest);
    if (!take_string(rest, name) || !take(rest, ':')) return false;
    if (before > 0) path_ += '.';
    path_.append(name);
    if (!read_value(rest, to, depth + 1)) return false;
    path_.resize(before);
    if (take(rest, '}')) return true;
    if (!take(rest, ',')) return false;
  }
}

/// The first value of a list counts: Caddy writes the values of a field as a list.
bool JsonLineReader::read_value(std::string_view& rest, LoggedRequest& to, std::size_t depth) {
  skip_blanks(rest);
  if (rest.empty()) return false;
  if (rest.front() == '{') return read_object(rest, to, depth);
  if (rest.front() == '"') {
    std::string_view text;
    if (!take_string(rest, text)) return false;
    note(text, to);
    return true;
  }
  if (rest.front() == '[') {
    if (depth == deepest) return false;
    take(rest, '[');
    if (take(rest, ']')) return true;
    const std::size_t before = path_.size();
    for (bool is_first = true;; is_first = false) {
      if (!is_first) path_ += '\0';  // no member has this path
      if (!read_value(rest, to, depth + 1)) return false;
      path_.resize(before);
      if (take(rest, ']')) return true;
      if (!take(rest, ',')) return false;
    }
  }
  const std::string_view word = rest.substr(0, rest.find_first_of(",}] \t\r\n"));
  if (word.empty()) return false;
  rest.remove_prefix(word.size());
  if (word != "null") note(word, to);
  return true;
}

bool JsonLineReader::take_string(std::string_view& rest, std::string_view& to) {
  if (!rest.starts_with('"')) return false;
  rest.remove_prefix(1);
  std::size_t end = rest.find_first_of("\"\\");
  if (end == std::string_view::npos) return false;
  if (rest[end] == '"') {
    to = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  }
  const std::size_t begin = unescaped_.size();
  for (;;) {
    end = rest.find_first_of("\"\\");
    if (end == std::string_view::npos) return false;
    unescaped_.append(rest.substr(0, end));
    const bool is_end = rest[end] == '"';
    rest.remove_prefix(end + 1);
    if (is_end) break;
    if (rest.empty()) return false;
    const char kind = rest.front();
    rest.remove_prefix(1);
    constexpr std::string_view kinds = "\"\\/bfnrt", bytes = "\"\\/\b\f\n\r\t";
    if (const std::size_t known = kinds.find(kind); known != std::string_view::npos) {
      unescaped_ += bytes[known];
    } else if (kind != 'u' || !take_unicode(rest, unescaped_)) {
      return false;
    }
  }
  to = std::string_view(unescaped_).substr(begin);
  return true;
}

/// Takes the value of a member that states a part of the request.
void JsonLineReader::note(std::string_view text, LoggedRequest& to) {
  const auto found = std::ranges::find(sought_, std::string_view(path_), &Sought::path);
  if (found == sought_.end()) {
    const std::string_view path = path_;
    if (path.starts_with("other_limits")) note_other(path.substr(path.rfind('.') + 1), text);
    if (path.substr(0, path.find('\0')) == "queue_us") note_queue_step(text);
    return;
  }
  switch (found->part) {
    case Part::time: {
      const auto written = parse_rfc3339(text);
      const auto at = written ? written : instant_of_number(text);
      has_time_ = true;
      has_bad_time_ = !at;
      to.at = at.value_or(Instant{});
      return;
    }
    case Part::duration:
    case Part::duration_ms:
    case Part::duration_us:
      to.duration = duration_of(text, found->part == Part::duration      ? 1e6
                                      : found->part == Part::duration_ms ? 1e3
                                                                         : 1);
      return;
    case Part::decided_at:
      if (const auto us = parse_number<std::int64_t>(text);
          us && is_decidable(instant_from_us(*us)))
        to.decided_at = instant_from_us(*us);
      return;
    case Part::field:
      if (!text.empty()) fields_.push_back({.name = found->name, .value = text});
      return;
    case Part::own:
      return note_own(found->name, text);
    case Part::status: {
      if (text == "0" || text == "-" || text.empty()) return;  // there was no response
      const auto status = parse_number<int>(text);
      has_bad_status_ = !status || *status < 100 || *status > 599;
      if (!has_bad_status_) to.status = status;
      return;
    }
    case Part::client:
      to.client = IpAddress::parse(text);
      return;
    case Part::method:
      to.method = text;
      return;
    case Part::target:
      to.target = text;
      return;
    case Part::request:
      request_line_ = text;
      return;
    case Part::host:
      to.host = text;
      return;
    case Part::user:
      to.user = text;
      return;
    case Part::referer:
      to.referer = text;
      return;
    case Part::user_agent:
      to.user_agent = text;
      return;
  }
}

void JsonLineReader::note_own(std::string_view name, std::string_view text) {
  if (name == "request_id") is_own_ = true;
  if (name == "upstream_us") own_.has_response = true;
  for (const auto& [member, to] : {std::pair{"route", &own_.route},
                                   {"plan", &own_.plan},
                                   {"upstream", &own_.upstream},
                                   {"decision", &own_.decision},
                                   {"policy", &own_.policy},
                                   {"identity", &own_.identity},
                                   {"identity_kind", &own_.identity_kind},
                                   {"aborted_by", &own_.aborted_by}}) {
    if (name == member) *to = text;
  }
  for (const auto& [member, to] : {std::pair{"cost", &own_.cost},
                                   {"reserved", &own_.reserved},
                                   {"remaining", &own_.remaining},
                                   {"grpc_status", &own_.grpc_status}}) {
    if (name == member) *to = parse_number<std::int64_t>(text);
  }
}

/// Takes a member of an element of the list. The first one is the policy.
void JsonLineReader::note_other(std::string_view name, std::string_view text) {
  if (name == "policy") others_.push_back({.policy = text});
  if (others_.empty()) return;
  OwnLimit& other = others_.back();
  if (name == "identity") other.identity = text;
  if (name == "identity_kind") other.identity_kind = text;
  if (name == "cost") other.cost = parse_number<std::int64_t>(text);
  if (name == "reserved") other.reserved = parse_number<std::int64_t>(text);
}

/// Takes an element of the list. A step of more than a day is none of Weir.
void JsonLineReader::note_queue_step(std::string_view text) {
  constexpr std::int64_t longest = 86'400'000'000;
  const auto us = parse_number<std::int64_t>(text);
  if (us && *us >= 0 && *us <= longest) queue_us_.push_back(*us);
}

}  // namespace weir::replay
