#include "http/request_view.hpp"

#include <algorithm>
#include <cstddef>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"

namespace weir::http {

const FieldView* RequestView::find(FieldId id) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [id](const FieldView& field) { return field.id == id; });
  return found == fields.end() ? nullptr : &*found;
}

const FieldView* RequestView::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [name](const FieldView& field) {
    return iequals(field.name, name);
  });
  return found == fields.end() ? nullptr : &*found;
}

bool are_equal_but_for_case(std::string_view a, std::string_view b) {
  constexpr std::size_t word = 8;
  if (a.size() < word) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](char x, char y) { return x == y || to_lower(x) == to_lower(y); });
  }
  const auto equal_at = [&](std::size_t at) {
    return lower_case(eight_bytes(a.data() + at)) == lower_case(eight_bytes(b.data() + at));
  };
  const std::size_t last = a.size() - word;
  for (std::size_t at = 0; at < last; at += word) {
    if (!equal_at(at)) return false;
  }
  return equal_at(last);
}

}  // namespace weir::http
