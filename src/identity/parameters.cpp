#include "identity/parameters.hpp"

#include <algorithm>
#include <cstddef>

#include "http/characters.hpp"

namespace weir::identity {
namespace {

/// Takes what stands before the next separator off `list`.
std::string_view take_until(std::string_view& list, char separator) {
  const auto end = std::min(list.find(separator), list.size());
  const auto part = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return part;
}

bool decodes_to(std::string_view encoded, std::string_view name) {
  PercentDecoder decoder{encoded};
  for (const char c : name) {
    if (decoder.at_end() || decoder.next() != c) return false;
  }
  return decoder.at_end();
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

char PercentDecoder::next() {
  const char c = text_.front();
  if (c == '%' && text_.size() >= 3) {
    const int high = http::hex_value(text_[1]);
    const int low = http::hex_value(text_[2]);
    if (high >= 0 && low >= 0) {
      text_.remove_prefix(3);
      return static_cast<char>(high << 4 | low);
    }
  }
  text_.remove_prefix(1);
  return c == '+' ? ' ' : c;
}

std::optional<std::string_view> query_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    if (decodes_to(take_until(value, '='), name)) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> cookie(const http::RequestView& request, std::string_view name) {
  for (const http::FieldView& field : request.fields) {
    if (field.id != http::FieldId::cookie) continue;
    for (std::string_view pairs = field.value; !pairs.empty();) {
      std::string_view value = take_until(pairs, ';');
      const bool has_value = value.find('=') != std::string_view::npos;
      if (has_value && http::trimmed(take_until(value, '=')) == name)
        return unquoted(http::trimmed(value));
    }
  }
  return std::nullopt;
}

}  // namespace weir::identity
