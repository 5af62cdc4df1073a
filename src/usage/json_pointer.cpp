#include "usage/json_pointer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace weir::usage {
namespace {

/// Decodes ~1 and then ~0 (RFC 6901 section 4). Nothing: a ~ without 0 or 1 after it.
std::optional<std::string> decode(std::string_view written) {
  std::string text;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '~') {
      text += written[i];
      continue;
    }
    const std::string_view digit = written.substr(++i, 1);
    if (digit != "0" && digit != "1") return std::nullopt;
    text += digit == "0" ? '~' : '/';
  }
  return text;
}

/// array-index = "0" / %x31-39 *DIGIT, RFC 6901 section 4.
std::uint64_t index_of(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return ReferenceToken::no_index;
  return parse_number<std::uint64_t>(text).value_or(ReferenceToken::no_index);
}

}  // namespace

Result<JsonPointer> JsonPointer::parse(std::string_view text) {
  if (!text.starts_with('/'))
    return Problem{"a JSON pointer begins with a slash, such as /usage/total_tokens"};
  if (text.size() > longest)
    return Problem{"a JSON pointer has at most " + std::to_string(longest) + " bytes"};
  if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '/')) > deepest)
    return Problem{"a JSON pointer has at most " + std::to_string(deepest) + " parts"};
  JsonPointer pointer;
  pointer.text_ = text;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view written = text.substr(0, text.find('/'));
    auto decoded = decode(written);
    if (!decoded)
      return Problem{"in a JSON pointer ~ must be followed by 0 or 1: ~0 is a tilde, ~1 a slash"};
    const std::uint64_t index = index_of(*decoded);
    pointer.tokens_.push_back({.text = std::move(*decoded), .index = index});
    text.remove_prefix(written.size());
  }
  return pointer;
}

}  // namespace weir::usage
