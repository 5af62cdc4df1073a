#include "http/request_view.hpp"

#include <algorithm>

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
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](char x, char y) { return x == y || to_lower(x) == to_lower(y); });
}

}  // namespace weir::http
