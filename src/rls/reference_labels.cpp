#include "rls/reference_labels.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weir::rls {
namespace {

bool is_address_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the end of the IPv4 address at `begin`, four groups of up to three digits; 0: there is
/// none.
std::size_t end_of_address(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  for (int group = 0; group < 4; ++group) {
    if (group > 0 && (at == text.size() || text[at++] != '.')) return 0;
    const std::size_t digits = at;
    while (at < text.size() && at - digits < 3 && is_address_digit(text[at]))
      ++at;
    if (at == digits) return 0;
  }
  return at;
}

/// The exporter of the reference does so before it splits a name.
void replace_separators(std::string& name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '|'; }, '_');
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::size_t end = end_of_address(name, at);
    if (end == 0) continue;
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(at),
                 name.begin() + static_cast<std::ptrdiff_t>(end), '.', '_');
    at = end - 1;
  }
}

}  // namespace

void shorten_to_labels(std::string& name) {
  replace_separators(name);
  std::size_t end = 0;
  for (int label = 0; label < 3 && end != std::string::npos; ++label)
    end = name.find('.', label == 0 ? 0 : end + 1);
  if (end != std::string::npos) name.resize(end);
}

ReferenceLabels reference_labels(std::string name) {
  shorten_to_labels(name);
  ReferenceLabels labels;
  std::string_view rest = name;
  for (std::string* const label : {&labels.domain, &labels.key1, &labels.key2}) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    *label = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return labels;
}

}  // namespace weir::rls
