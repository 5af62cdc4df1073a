#include "http/look_alike.hpp"

#include <algorithm>
#include <array>

#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::http {
namespace {

constexpr char folded(char c) {
  return c == '_' ? '-' : to_lower(c);
}

}  // namespace

bool are_one_variable(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return folded(x) == folded(y); });
}

bool is_look_alike(std::string_view name, std::span<const std::string> guarded) {
  constexpr std::array<std::string_view, 3> names{"content-length", "transfer-encoding",
                                                  "x-real-ip"};
  const auto shadows = [name](std::string_view other) {
    return name.size() == other.size() && !iequals(name, other) && are_one_variable(name, other);
  };
  if (std::any_of(guarded.begin(), guarded.end(), shadows)) return true;
  if (name.find('_') == std::string_view::npos) return false;
  const auto shadows_prefix = [name](std::string_view prefix) {
    const auto begin = name.substr(0, prefix.size());
    return are_one_variable(begin, prefix) && !iequals(begin, prefix);
  };
  return std::any_of(origin_prefixes.begin(), origin_prefixes.end(), shadows_prefix) ||
         std::any_of(names.begin(), names.end(), shadows);
}

}  // namespace weir::http
