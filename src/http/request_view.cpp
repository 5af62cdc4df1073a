#include "http/request_view.hpp"

#include <algorithm>
#include <cstddef>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"
#include "http/field_list.hpp"

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

/// A browser sends a preflight request without a body, so one with a body is another request. A
/// field that Connection names is removed, so the service would see another request too.
bool is_preflight(const RequestView& request) {
  if (request.method != "OPTIONS") return false;
  const FieldView* const wanted = request.find(FieldId::access_control_request_method);
  if (wanted == nullptr || !is_token(wanted->value)) return false;
  for (const FieldView& field : request.fields) {
    if (field.id == wanted->id && &field != wanted) return false;
    if (field.id == FieldId::upgrade || field.id == FieldId::transfer_encoding) return false;
    if (field.id == FieldId::content_length && field.value != "0") return false;
    bool is_removed = false;
    if (field.id == FieldId::connection) {
      for_each_element(field.value, [&](std::string_view option) {
        is_removed |= iequals(option, "access-control-request-method");
      });
    }
    if (is_removed) return false;
  }
  return true;
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
