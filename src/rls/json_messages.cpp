#include "rls/json_messages.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "base/appender.hpp"
#include "json/read.hpp"
#include "json/write.hpp"
#include "rls/whole_number.hpp"

namespace weir::rls {
namespace {

using json::Kind;

/// A field by its two names.
struct JsonField {
  std::string_view name;
  std::string_view original_name;
};

auto find_field(std::span<const JsonField> fields, std::string_view name) {
  return std::ranges::find_if(fields, [&](const JsonField& field) {
    return field.name == name || field.original_name == name;
  });
}

// A problem of a value is text such as `[0].entries: expected a list`: where within the value, and
// what; empty if there is none. Each level adds its own place in front.

/// Calls `read(index of the field, value)` for each field of an object that is not null. Returns
/// the first problem.
template <class Read>
std::string read_members(const json::Value& object, std::span<const JsonField> fields, Read read) {
  if (object.kind != Kind::object) return ": expected an object";
  unsigned seen = 0;
  for (const auto& [name, value] : object.members) {
    const auto found = find_field(fields, name);
    if (found == fields.end()) {
      std::string problem = ": unknown field ";
      json::append_string(problem, std::string_view(name).substr(0, 64));
      return problem;
    }
    const auto index = static_cast<unsigned>(found - fields.begin());
    if ((seen & 1U << index) != 0)
      return std::string(".").append(name).append(": the field has a second value");
    seen |= 1U << index;
    if (value.kind == Kind::null) continue;
    if (const std::string problem = read(index, value); !problem.empty())
      return std::string(".").append(name).append(problem);
  }
  return {};
}

/// Calls `read(value)` for each value of a list.
template <class Read>
std::string read_items(const json::Value& list, std::size_t most, Read read) {
  if (list.kind != Kind::list) return ": expected a list";
  if (list.members.size() > most) return ": more than " + std::to_string(most) + " values";
  for (std::size_t i = 0; i < list.members.size(); ++i) {
    if (const std::string problem = read(list.members[i].value); !problem.empty())
      return "[" + std::to_string(i) + "]" + problem;
  }
  return {};
}

template <class Number>
std::string read_json_number(const json::Value& value, Number& to) {
  constexpr std::uint64_t most = std::numeric_limits<Number>::max();
  const bool has_kind = value.kind == Kind::number || value.kind == Kind::string;
  const auto number = has_kind ? read_whole_number(value.text) : std::nullopt;
  if (!number || number->is_negative || number->magnitude > most)
    return ": expected a whole number from 0 to " + std::to_string(most);
  to = static_cast<Number>(number->magnitude);
  return {};
}

std::string read_json_unit(const json::Value& value, options::RateLimitUnit& to) {
  std::size_t unit = 0;
  if (value.kind == Kind::string) {
    while (unit < options::rate_limit_unit_count &&
           name_of(static_cast<options::RateLimitUnit>(unit)) != value.text)
      ++unit;
    if (unit == options::rate_limit_unit_count)
      return ": unknown unit; the units are SECOND, MINUTE, HOUR, DAY, WEEK, MONTH and YEAR";
  } else {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    const auto number = value.kind == Kind::number ? read_whole_number(value.text) : std::nullopt;
    if (!number || number->magnitude > most + (number->is_negative ? 1 : 0))
      return ": expected the name or the number of a unit";
    const bool is_known =
        !number->is_negative && number->magnitude < options::rate_limit_unit_count;
    unit = is_known ? static_cast<std::size_t>(number->magnitude) : 0;
  }
  to = static_cast<options::RateLimitUnit>(unit);
  return {};
}

std::string read_json_boolean(const json::Value& value, bool& to) {
  if (value.kind != Kind::boolean) return ": expected true or false";
  to = value.text == "true";
  return {};
}

std::string read_json_text(const json::Value& value, Texts& texts, std::string_view& to) {
  if (value.kind != Kind::string) return ": expected a string";
  to = texts.add(value.text);
  return {};
}

std::string read_json_entry(const json::Value& value, Request& to) {
  constexpr JsonField fields[] = {{"key", "key"}, {"value", "value"}};
  Entry& entry = to.entries.emplace_back();
  return read_members(value, fields, [&](unsigned field, const json::Value& text) {
    return read_json_text(text, to.texts, field == 0 ? entry.key : entry.value);
  });
}

std::string read_json_stated_limit(const json::Value& value, StatedLimit& to) {
  constexpr JsonField fields[] = {{"requestsPerUnit", "requests_per_unit"}, {"unit", "unit"}};
  return read_members(value, fields, [&](unsigned field, const json::Value& part) {
    return field == 0 ? read_json_number(part, to.requests_per_unit)
                      : read_json_unit(part, to.unit);
  });
}

std::string read_json_descriptor(const json::Value& value, Request& to) {
  constexpr JsonField fields[] = {{"entries", "entries"},
                                  {"limit", "limit"},
                                  {"hitsAddend", "hits_addend"},
                                  {"isNegativeHits", "is_negative_hits"}};
  Descriptor& descriptor = to.descriptors.emplace_back();
  descriptor.first_entry = to.entries.size();
  return read_members(value, fields, [&](unsigned field, const json::Value& part) {
    switch (field) {
      case 0:
        return read_items(part, most_entries, [&](const json::Value& entry) {
          ++descriptor.entry_count;
          return read_json_entry(entry, to);
        });
      case 1:
        return read_json_stated_limit(part, descriptor.limit.emplace());
      case 2:
        return read_json_number(part, descriptor.hits_addend.emplace());
      default:
        return read_json_boolean(part, descriptor.is_negative_hits);
    }
  });
}

std::string read_json_request(const json::Value& value, Request& to) {
  constexpr JsonField fields[] = {
      {"domain", "domain"}, {"descriptors", "descriptors"}, {"hitsAddend", "hits_addend"}};
  return read_members(value, fields, [&](unsigned field, const json::Value& part) {
    switch (field) {
      case 0:
        return read_json_text(part, to.texts, to.domain);
      case 1:
        return read_items(part, most_descriptors, [&](const json::Value& descriptor) {
          return read_json_descriptor(descriptor, to);
        });
      default:
        return read_json_number(part, to.hits_addend);
    }
  });
}

std::string_view describe(json::ReadError error) {
  switch (error) {
    case json::ReadError::duplicate_member:
      return "the request has a field twice in one object";
    case json::ReadError::too_deep:
      return "the request is nested more deeply than a RateLimitRequest";
    case json::ReadError::too_many_values:
      return "the request has too many values";
    case json::ReadError::syntax:
      break;
  }
  return "the request is not JSON in UTF-8";
}

std::string_view code_name(Code code) {
  constexpr std::string_view names[] = {"UNKNOWN", "OK", "OVER_LIMIT"};
  return names[static_cast<std::size_t>(code)];
}

/// Writes the members of an object or the values of a list, with commas between them.
class JsonParts {
 public:
  explicit JsonParts(Appender& out, char begin) : out_(out) { out_.add(begin); }

  Appender& next() {
    if (has_one_) out_.add(',');
    has_one_ = true;
    return out_;
  }
  /// `name`: with its quotes and the colon.
  Appender& member(std::string_view name) { return next().add(name); }
  void number(std::string_view name, std::uint32_t value) {
    if (value != 0) member(name).number(value);
  }
  void quoted(std::string_view name, std::string_view value) {
    json::append_string(member(name), value);
  }
  void end(char end) { out_.add(end); }

 private:
  Appender& out_;
  bool has_one_ = false;
};

/// google.protobuf.Duration: seconds with 0, 3 or 6 digits behind the point.
void append_duration(Appender& out, Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  const auto us = static_cast<std::uint64_t>(to_us(duration - seconds));
  out.add('"').number(seconds.count());
  if (us % 1000 != 0)
    out.add('.').padded<6>(us);
  else if (us != 0)
    out.add('.').padded<3>(us / 1000);
  out.add("s\"");
}

void append_current_limit(Appender& out, const CurrentLimit& limit) {
  JsonParts parts(out, '{');
  if (!limit.name.empty()) parts.quoted("\"name\":", limit.name);
  parts.number("\"requestsPerUnit\":", limit.requests_per_unit);
  if (limit.unit != options::RateLimitUnit::unknown) parts.quoted("\"unit\":", name_of(limit.unit));
  parts.end('}');
}

void append_json_status(Appender& out, const DescriptorStatus& status) {
  JsonParts parts(out, '{');
  if (status.code != Code::unknown) parts.quoted("\"code\":", code_name(status.code));
  if (status.current_limit)
    append_current_limit(parts.member("\"currentLimit\":"), *status.current_limit);
  parts.number("\"limitRemaining\":", status.limit_remaining);
  if (status.duration_until_reset)
    append_duration(parts.member("\"durationUntilReset\":"), *status.duration_until_reset);
  parts.end('}');
}

void append_header(Appender& out, const http::Field& header) {
  JsonParts parts(out, '{');
  if (!header.name.empty()) parts.quoted("\"key\":", header.name);
  if (!header.value.empty()) parts.quoted("\"value\":", header.value);
  parts.end('}');
}

template <class Items, class Append>
void append_json_list(Appender& out, const Items& items, Append append) {
  JsonParts parts(out, '[');
  for (const auto& item : items)
    append(parts.next(), item);
  parts.end(']');
}

}  // namespace

std::string read_json(std::string_view text, Request& to) {
  to.clear();
  if (text.size() > most_message_bytes)
    return "the request is longer than " + std::to_string(most_message_bytes) + " bytes";
  // Enough for each entry and each descriptor with all of its fields.
  constexpr json::Limits limits{.depth = 8,
                                .values = (3 * most_entries + 8) * most_descriptors + 4};
  const auto root = json::read(text, limits);
  if (!root) return std::string(describe(root.error()));
  to.texts.reset(text.size());  // decoded texts are never longer
  std::string problem = read_json_request(*root, to);
  if (problem.starts_with('.')) return problem.substr(1);
  return problem.empty() ? problem : "the request" + problem;
}

void append_json(std::string& out, const Response& response) {
  Appender end(out);
  JsonParts parts(end, '{');
  if (response.overall_code != Code::unknown)
    parts.quoted("\"overallCode\":", code_name(response.overall_code));
  if (!response.statuses.empty())
    append_json_list(parts.member("\"statuses\":"), response.statuses, append_json_status);
  if (!response.response_headers_to_add.empty())
    append_json_list(parts.member("\"responseHeadersToAdd\":"), response.response_headers_to_add,
                     append_header);
  if (!response.dynamic_metadata.empty())
    append_json(parts.member("\"dynamicMetadata\":"), response.dynamic_metadata);
  parts.end('}');
}

}  // namespace weir::rls
