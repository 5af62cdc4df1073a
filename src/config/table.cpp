#include "config/table.hpp"

#include <algorithm>
#include <array>

#include "config/advice.hpp"
#include "config/key_advice.hpp"
#include "config/key_examples.hpp"

namespace weir::config {

namespace {

/// Bytes that no key of Weir has, and that are easily overlooked.
bool has_invisible_character(std::string_view key) {
  constexpr std::array<std::string_view, 4> invisible{"\xc2\xa0", "\xe2\x80\x8b", "\xef\xbb\xbf",
                                                      "\xe3\x80\x80"};
  return std::ranges::any_of(
      invisible, [&](std::string_view one) { return key.find(one) != std::string_view::npos; });
}

/// `rate:10/s` between braces, where a blank is missing.
bool lacks_blank(std::string_view key, std::span<const std::string_view> known) {
  const std::size_t colon = key.find(':');
  return colon != std::string_view::npos &&
         std::ranges::find(known, key.substr(0, colon)) != known.end();
}

/// For `burst=20` in place of `burst: 20`.
std::string advice_on_assignment(std::string_view map_shape, std::string_view text,
                                 std::span<const std::string_view> known) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view name = text.substr(0, equals);
  if (std::ranges::find(known, name) != known.end())
    return "; write a colon and a space: " + std::string(name) + ": VALUE";
  return key_advice(map_shape, name);
}

/// The key before this one, if it has no value.
std::string_view empty_entry_before(const Cursor& in, std::string_view key) {
  const auto& entries = in.node().entries;
  const auto at = std::ranges::find(entries, key, &Entry::key);
  if (at == entries.begin() || at == entries.end()) return {};
  const Entry& before = *(at - 1);
  return before.value.kind == Node::Kind::null ? std::string_view(before.key) : std::string_view();
}

std::string advice_on(const Cursor& in, std::string_view key,
                      std::span<const std::string_view> known) {
  if (!in.has_few_problems()) return {};
  if (key == "<<") return "; merge keys are not part of YAML 1.2, use an alias for the whole value";
  if (has_invisible_character(key))
    return "; it has an invisible character or a blank that is not a space: type the line again";
  if (lacks_blank(key, known)) return colon_advice(key);
  std::string advice = key_advice(shape_of(in.path()), key);
  if (advice.empty()) advice = advice_on_assignment(shape_of(in.path()), key, known);
  if (advice.empty()) advice = in.hint_at(key, known);
  if (!advice.empty()) return advice;
  const std::string_view before = empty_entry_before(in, key);
  if (!before.empty()) return "; if it belongs to " + in_quotes(before) + ", indent it";
  return "; config/reference.yaml has all keys";
}

/// True if the entry after the one without a value is not known here: it probably belongs into it.
/// So does the path after a match, because a route cannot have a path of its own without one there.
bool is_followed_by_stranger(const Cursor& in, const Entry& entry,
                             std::span<const std::string_view> known) {
  const auto& entries = in.node().entries;
  const auto at = std::ranges::find(entries, entry.position.line,
                                    [](const Entry& one) { return one.position.line; });
  if (at == entries.end() || at + 1 == entries.end()) return false;
  const std::string& next = (at + 1)->key;
  return std::ranges::find(known, next) == known.end() || (entry.key == "match" && next == "path");
}

}  // namespace

std::string advice_on_missing_value(const Cursor& in, const Entry& entry,
                                    std::span<const std::string_view> known) {
  return is_followed_by_stranger(in, entry, known) ? "; indent the lines below that belong to it"
                                                   : "; write one or remove the key";
}

std::string advice_on_missing_key(const Cursor& in, std::string_view key) {
  const std::string path =
      in.path().empty() ? std::string(key) : in.path() + '.' + std::string(key);
  const std::string_view example = example_of(shape_of(path));
  return example.empty() ? std::string()
                         : "; write " + std::string(key) + ": " + std::string(example);
}

std::vector<std::string_view> report_unknown_keys(const Cursor& in,
                                                  std::span<const std::string_view> known) {
  std::vector<std::string_view> meant;
  for (const Entry& entry : in.node().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    in.at(entry).error_at(entry.position,
                          "unknown key " + in_quotes(entry.key) + advice_on(in, entry.key, known));
    if (meant.size() < known.size()) meant.push_back(closest(entry.key, known));
  }
  return meant;
}

}  // namespace weir::config
