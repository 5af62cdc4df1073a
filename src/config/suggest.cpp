#include "config/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weir::config {

namespace {

constexpr std::size_t longest_compared = 64;
constexpr std::size_t longest_listed = 16;
constexpr std::size_t longest_quoted = 60;

/// A URL with a password may be in the place of any other value, also without its scheme.
std::string without_userinfo(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(text);
  const std::size_t scheme_end = text.find("://");
  const std::size_t begin = scheme_end < at ? scheme_end + 3 : 0;
  return std::string(text.substr(0, begin)).append("***").append(text.substr(at));
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

// Optimal string alignment distance, with three rows of the matrix.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::string_view closest(std::string_view written, std::span<const std::string_view> known) {
  if (written.empty() || written.size() > longest_compared) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view name : known) {
    if (name.size() > longest_compared) continue;
    const std::size_t distance = edit_distance(written, name);
    if (distance < best_distance && distance < name.size()) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

std::string hint(std::string_view written, std::span<const std::string_view> known) {
  if (const std::string_view near = closest(written, known); !near.empty()) {
    return "; did you mean " + in_quotes(near) + "?";
  }
  if (known.empty() || known.size() > longest_listed) return {};
  return "; known here: " + list_of(known);
}

std::string list_of(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names)
    list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

void replace_quoted(std::string& message, const std::string& old_text, std::string_view new_text) {
  const std::string replacement = in_quotes(new_text);
  for (const std::string& quoted : {'"' + old_text + '"', in_quotes(old_text)}) {
    for (std::size_t at = 0; (at = message.find(quoted, at)) != std::string::npos;
         at += replacement.size())
      message.replace(at, quoted.size(), replacement);
  }
}

std::string in_quotes(std::string_view text) {
  const std::string shown = without_userinfo(text);
  std::size_t length = std::min(shown.size(), longest_quoted);
  while (length < shown.size() && length > 0 && is_continuation(shown[length]))
    --length;
  std::string out = "\"";
  for (const char c : std::string_view(shown).substr(0, length)) {
    const auto code = static_cast<unsigned char>(c);
    out += code < 0x20 || code == 0x7F ? '?' : c;
  }
  if (length < shown.size()) out += "...";
  return out += '"';
}

}  // namespace weir::config
