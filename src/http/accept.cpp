#include "http/accept.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "http/characters.hpp"

namespace weir::http {
namespace {

/// Removes the text up to the next `separator` outside of quoted strings, and returns it without
/// the white space around it.
std::string_view take_until(std::string_view& text, char separator) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (is_quoted && c == '\\') {
      ++end;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == separator && !is_quoted) {
      break;
    }
  }
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// weight: 0 to 1 with at most three decimals, in thousandths (RFC 9110 section 12.4.2). `.2`,
/// which clients of Java send, is read as 0.2.
std::optional<int> parse_weight(std::string_view text) {
  if (text.starts_with('.') && text.size() > 1 && text.size() <= 4)
    return parse_weight("0" + std::string(text));
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int thousandths = text[0] == '1' ? 1000 : 0;
  int unit = 100;
  for (std::size_t i = 2; i < text.size(); ++i, unit /= 10) {
    if (!is_digit(text[i])) return std::nullopt;
    thousandths += (text[i] - '0') * unit;
  }
  return thousandths > 1000 ? std::nullopt : std::optional(thousandths);
}

/// One element of Accept.
struct MediaRange {
  std::string_view type;
  std::string_view subtype;
  int weight = 1000;
};

/// Sets the weight; false if the parameter is not valid, or narrows the range.
bool take_parameter(std::string_view parameter, MediaRange& to) {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const std::string_view name = parameter.substr(0, equals);
  if (iequals(name, "charset")) return true;
  if (!iequals(name, "q")) return false;
  const auto weight = parse_weight(parameter.substr(std::min(equals + 1, parameter.size())));
  if (weight) to.weight = *weight;
  return weight.has_value();
}

std::optional<MediaRange> parse_range(std::string_view element) {
  std::string_view name = take_until(element, ';');
  if (name == "*") name = "*/*";  // as clients of Java mean it
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  MediaRange range{.type = name.substr(0, slash), .subtype = name.substr(slash + 1)};
  if (!is_token(range.type) || !is_token(range.subtype)) return std::nullopt;
  if (range.type == "*" && range.subtype != "*") return std::nullopt;
  while (!element.empty()) {
    const std::string_view parameter = take_until(element, ';');
    if (!parameter.empty() && !take_parameter(parameter, range)) return std::nullopt;
  }
  return range;
}

/// 3 for the type itself, 2 for TYPE/*, 1 for */*, 0 if the range does not match.
int specificity(const MediaRange& range, std::string_view media_type) {
  const std::size_t slash = std::min(media_type.find('/'), media_type.size());
  if (range.type == "*") return 1;
  if (!iequals(range.type, media_type.substr(0, slash))) return 0;
  if (range.subtype == "*") return 2;
  return iequals(range.subtype, media_type.substr(std::min(slash + 1, media_type.size()))) ? 3 : 0;
}

/// The most specific range that matches a type decides its weight.
struct RangeMatch {
  int specificity = 0;
  int weight = 0;
};

}  // namespace

bool is_media_type(std::string_view text) {
  const std::string_view name = without_parameters(text);
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_token(name.substr(0, slash)) &&
         is_token(name.substr(slash + 1)) && name.find('*') == std::string_view::npos &&
         is_field_value(text) && !text.ends_with(';') && trimmed(text) == text;
}

std::string_view without_parameters(std::string_view media_type) {
  return trimmed(media_type.substr(0, media_type.find(';')));
}

std::optional<std::size_t> preferred_type(std::span<const FieldView> fields,
                                          std::span<const std::string_view> types) {
  std::array<RangeMatch, most_negotiated_types> matches{};
  const std::size_t count = std::min(types.size(), matches.size());
  bool has_accept = false;
  for (const FieldView& field : fields) {
    if (field.id != FieldId::accept || field.value.empty()) continue;
    has_accept = true;
    for (std::string_view list = field.value; !list.empty();) {
      const auto range = parse_range(take_until(list, ','));
      for (std::size_t i = 0; range && i < count; ++i) {
        const int found = specificity(*range, without_parameters(types[i]));
        if (found > matches[i].specificity)
          matches[i] = {.specificity = found, .weight = range->weight};
      }
    }
  }
  if (!has_accept) return count == 0 ? std::nullopt : std::optional<std::size_t>(0);
  const auto* const end = matches.begin() + count;
  const auto* const best = std::max_element(
      matches.begin(), matches.begin() + count, [](const RangeMatch& a, const RangeMatch& b) {
        return std::tie(a.weight, a.specificity) < std::tie(b.weight, b.specificity);
      });
  if (best == end || best->weight == 0) return std::nullopt;
  return static_cast<std::size_t>(best - matches.begin());
}

}  // namespace weir::http
