#include "config/yaml11.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "config/suggest.hpp"
#include "http/characters.hpp"
#include "json/write.hpp"

namespace weir::config {
namespace {

constexpr std::array<std::string_view, 11> true_words{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> false_words{
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 6> infinity_words{".inf",  ".Inf",  ".INF",
                                                         "+.inf", "+.Inf", "+.INF"};
constexpr std::array<std::string_view, 3> negative_infinity_words{"-.inf", "-.Inf", "-.INF"};
constexpr std::array<std::string_view, 3> nan_words{".nan", ".NaN", ".NAN"};

template <std::size_t N>
bool is_word_of(const std::array<std::string_view, N>& all, std::string_view text) {
  return std::ranges::find(all, text) != all.end();
}

/// Removes the sign. Returns true if it is a minus.
bool take_sign(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  return is_negative;
}

/// Removes the prefix of the base: 0x, 0o, 0b, or 0 before octal digits.
int take_base(std::string_view& text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char letter = text[1];
  constexpr std::string_view letters = "xXoObB";
  constexpr std::array<int, 6> bases{16, 16, 8, 8, 2, 2};
  const std::size_t found = letters.find(letter);
  text.remove_prefix(found == std::string_view::npos ? 1 : 2);
  return found == std::string_view::npos ? 8 : bases[found];
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool is_negative = take_sign(text);
  const int base = take_base(text);
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return {};
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (number > most) return {};
  const auto value = static_cast<std::int64_t>(number);
  return is_negative ? -value : value;
}

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, http::is_digit) - text.begin());
}

/// DIGITS, .DIGITS or DIGITS.DIGITS, and perhaps an exponent with a sign.
bool has_form_of_fraction(std::string_view text) {
  take_sign(text);
  std::size_t digits = count_digits(text);
  text.remove_prefix(digits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits = count_digits(text);
    text.remove_prefix(digits);
  }
  if (digits == 0 || text.empty()) return digits != 0;
  if (text.size() < 3 || (text[0] != 'e' && text[0] != 'E') || (text[1] != '+' && text[1] != '-'))
    return false;
  return count_digits(text.substr(2)) == text.size() - 2;
}

std::optional<double> fraction_of(std::string_view text) {
  if (is_word_of(infinity_words, text)) return std::numeric_limits<double>::infinity();
  if (is_word_of(negative_infinity_words, text)) return -std::numeric_limits<double>::infinity();
  if (is_word_of(nan_words, text)) return std::numeric_limits<double>::quiet_NaN();
  if (!has_form_of_fraction(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  return failure == std::errc{} ? value : std::numeric_limits<double>::infinity();
}

std::string text_of(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

/// Adds the entries of `from` that the map does not have.
void merge_into(Node& map, const Node& from, std::vector<Diagnostic>& problems) {
  if (from.kind == Node::Kind::sequence) {
    for (const Node& one : from.items)
      merge_into(map, one, problems);
    return;
  }
  if (from.kind != Node::Kind::map) {
    problems.push_back(diagnostic_at(
        from.position, "a merge key (<<) takes a map or a list of maps, such as <<: *defaults"));
    return;
  }
  for (const Entry& entry : from.entries)
    if (map.find(entry.key) == nullptr) map.entries.push_back(entry);
}

}  // namespace

Yaml11Value yaml11_value(const Node& node) {
  if (node.kind != Node::Kind::scalar) return std::monostate{};
  if (!node.is_plain) return node.text;
  if (is_word_of(true_words, node.text)) return true;
  if (is_word_of(false_words, node.text)) return false;
  std::string plain = node.text;
  std::erase(plain, '_');
  if (const auto integer = integer_of(plain)) return *integer;
  if (const auto fraction = fraction_of(plain)) return Fraction{*fraction};
  return node.text;
}

void expand_merge_keys(Node& node, std::vector<Diagnostic>& problems) {
  for (Node& item : node.items)
    expand_merge_keys(item, problems);
  for (Entry& entry : node.entries)
    expand_merge_keys(entry.value, problems);
  const auto found = std::ranges::find(node.entries, "<<", &Entry::key);
  if (found == node.entries.end()) return;
  const Node from = std::move(found->value);
  node.entries.erase(found);
  merge_into(node, from, problems);
}

std::string json_of_yaml11(const Node& node, std::vector<Diagnostic>& problems) {
  if (node.kind == Node::Kind::sequence) {
    std::vector<std::string> items;
    for (const Node& item : node.items)
      items.push_back(json_of_yaml11(item, problems));
    return json::list_of(items);
  }
  if (node.kind == Node::Kind::map) {
    json::Object object;
    for (const Entry& entry : node.entries)
      object.json(entry.key, json_of_yaml11(entry.value, problems));
    return object.str();
  }
  const Yaml11Value value = yaml11_value(node);
  if (const bool* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* const number = std::get_if<Fraction>(&value)) {
    if (std::isfinite(number->value)) return text_of(number->value);
    problems.push_back(diagnostic_at(
        node.position,
        "JSON does not have the number " + in_quotes(node.text) + "; put quotes around it"));
  }
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return "null";
  std::string json;
  json::append_string(json, *text);
  return json;
}

}  // namespace weir::config
