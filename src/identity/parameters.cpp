#include "identity/parameters.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "http/characters.hpp"
#include "identity/blanks.hpp"

namespace weir::identity {
namespace {

bool decodes_to(std::string_view encoded, std::string_view name) {
  PercentDecoder decoder{encoded};
  for (const char c : name) {
    if (decoder.at_end() || decoder.next() != c) return false;
  }
  return decoder.at_end();
}

/// PHP keeps the first max_input_vars parameters, 1000 by default, and so do others.
constexpr std::size_t most_parameters = 1000;

/// The character of a PHP variable for a character of a name.
constexpr char folded(char c) {
  return c == '.' || c == ' ' || c == '+' || c == '[' ? '_' : c;
}
constexpr char folded_in_lower_case(char c) {
  return http::to_lower(folded(c));
}

/// True for characters that some services remove from the start of a name.
constexpr bool is_skipped(char c) {
  return is_blank(c) || c == '[' || c == ']' || c == '?';
}

/// True if `written`, decoded, is `name` or may be read as it. `fold` maps characters that are read
/// as the same to one of them.
template <class Fold>
bool may_be_read_as(std::string_view name, std::string_view written, Fold fold) {
  PercentDecoder decoder{written};
  // The end of the name is NUL here, as it is for PHP.
  const auto take = [&] { return decoder.at_end() ? '\0' : decoder.next(); };
  char next = take();
  while (is_skipped(next))
    next = take();
  while (!name.empty() && is_skipped(name.front()))
    name.remove_prefix(1);
  if (next == '\0') return false;
  for (const char c : name) {
    if (c == ']') continue;
    while (c == '[' && next == ']')
      next = take();
    if (fold(next) != fold(c)) return false;
    next = take();
  }
  return next == '\0' || next == '[' || next == ']' || next == '\x85' || next == '\xa0';
}

/// True if qs ends the name of a parameter with that value, as written, within the value.
bool ends_a_name(std::string_view value) {
  for (auto at = value.find('='); at != std::string_view::npos; at = value.find('=', at + 1)) {
    const auto before = value.substr(0, at);
    if (before.ends_with(']') || before.ends_with("%5D") || before.ends_with("%5d")) return true;
  }
  return false;
}

void add(Occurrences& to, std::string_view value) {
  if (to.count == 0) to.first = value;
  to.last = value;
  ++to.count;
}

/// Looks for the name in a part of the list that some services split at `separator`.
template <class Fold>
void look_between(char separator, std::string_view part, std::string_view name, Fold fold,
                  Occurrences& to) {
  while (!part.empty()) {
    std::string_view piece = take_until(part, separator);
    to.divided |= may_be_read_as(name, http::trimmed(take_until(piece, '=')), fold);
  }
}

/// A field's value holds no other blanks than these two.
std::size_t find_blank(std::string_view text) {
  const std::size_t space = text.find(' ');
  return std::min(space, text.substr(0, space).find('\t'));
}

/// Looks for the name after blanks in a pair, where some services begin another pair.
void look_after_blanks(std::string_view pair, std::string_view name, Occurrences& to) {
  for (auto blank = find_blank(pair); blank != std::string_view::npos; blank = find_blank(pair)) {
    pair.remove_prefix(blank + 1);
    const auto written = pair.substr(0, pair.find_first_of("= \t"));
    to.spaced |= may_be_read_as(name, written, folded);
  }
}

/// True if a value in quotes does not end in the pair for services that respect quotes and the
/// escapes in them. A quote that does not begin a value is an ordinary character.
bool leaves_quotes_open(std::string_view pair) {
  for (auto quote = pair.find('"'); quote != std::string_view::npos; quote = pair.find('"')) {
    if (!http::trimmed(pair.substr(0, quote)).ends_with('=')) return false;
    std::size_t end = quote + 1;
    while (end < pair.size() && pair[end] != '"')
      end += pair[end] == '\\' ? 2 : 1;
    if (end >= pair.size()) return true;
    pair.remove_prefix(end + 1);
  }
  return false;
}

/// True if `pair` is a cookie with a name and "=". A semicolon at the end of the line, after which
/// `rest` is empty, ends the last cookie.
bool is_cookie_pair(std::string_view pair, std::string_view rest) {
  if (pair.empty()) return rest.empty();
  const std::size_t equals = pair.find('=');
  return equals != 0 && equals != std::string_view::npos;
}

/// The value of the cookie itself, without the quotes around it.
void add_cookie(Occurrences& to, std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  } else {
    to.spaced |= find_blank(value) != std::string_view::npos;
  }
  to.quoted |= value.find('"') != std::string_view::npos;
  add(to, value);
}

}  // namespace

char PercentDecoder::next() {
  const char c = text_.front();
  if (const int escaped = http::escape_at(text_); escaped >= 0) {
    text_.remove_prefix(3);
    return static_cast<char>(escaped);
  }
  text_.remove_prefix(1);
  return c == '+' ? ' ' : c;
}

Occurrences query_parameters(std::string_view query, std::string_view name) {
  Occurrences found;
  const bool is_divided = query.find(';') != std::string_view::npos;
  for (std::size_t count = 1; !query.empty(); ++count) {
    found.crowded = count > most_parameters;
    const std::string_view parameter = take_until(query, '&');
    std::string_view value = parameter;
    const std::string_view written = take_until(value, '=');
    if (decodes_to(written, name)) {
      add(found, value);
      found.imitated |= ends_a_name(value);
    } else {
      found.imitated |= may_be_read_as(name, written, folded_in_lower_case);
    }
    if (is_divided && parameter.find(';') != std::string_view::npos)
      look_between(';', parameter, name, folded_in_lower_case, found);
  }
  return found;
}

Occurrences cookies(const http::RequestView& request, std::string_view name) {
  Occurrences found;
  bool is_quoted = false;  // by a quote in an earlier pair
  std::size_t lines = 0;
  std::size_t count = 0;
  for (const http::FieldView& field : request.fields) {
    if (field.id != http::FieldId::cookie) continue;
    found.scattered = ++lines > 1;
    const bool is_divided = field.value.find(',') != std::string_view::npos;
    const bool has_quotes = field.value.find('"') != std::string_view::npos;
    for (std::string_view pairs = field.value; !pairs.empty();) {
      const std::string_view pair = http::trimmed(take_until(pairs, ';'));
      found.crowded = ++count > most_parameters;
      found.malformed |= !is_cookie_pair(pair, pairs);
      std::string_view value = pair;
      const std::string_view written = http::trimmed(take_until(value, '='));
      if (written == name) {
        add_cookie(found, without_blanks(value));
        found.quoted |= is_quoted;
      } else {
        found.imitated |= may_be_read_as(name, written, folded);
      }
      if (is_divided && pair.find(',') != std::string_view::npos)
        look_between(',', pair, name, folded, found);
      look_after_blanks(pair, name, found);
      is_quoted |= has_quotes && leaves_quotes_open(pair);
    }
  }
  // All services agree on the absence of a cookie, however they read the others.
  if (found.count == 0) found.crowded = found.scattered = found.malformed = false;
  return found;
}

CountedValue counted_value(const Occurrences& found, Repeated repeated) {
  using Kind = Ambiguity::Kind;
  const auto is = [](Kind kind) { return CountedValue{.text = {}, .ambiguity = kind}; };
  if (found.imitated) return is(Kind::look_alike);
  if (found.divided) return is(Kind::separator);
  if (found.crowded) return is(Kind::crowd);
  if (found.quoted) return is(Kind::quotes);
  if (found.spaced) return is(Kind::blank);
  if (found.count > 1 && repeated == Repeated::refuse) return is(Kind::repeated);
  if (found.scattered) return is(Kind::lines);
  if (found.malformed) return is(Kind::malformed);
  return {.text = repeated == Repeated::last ? found.last : found.first};
}

}  // namespace weir::identity
