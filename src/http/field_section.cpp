#include "http/field_section.hpp"

#include <algorithm>

#include "http/request_view.hpp"

namespace weir::http {

FieldSection::FieldSection(std::initializer_list<Field> fields) {
  for (const Field& field : fields)
    add(field.name, field.value);
}

bool FieldSection::contains(std::string_view name) const {
  for (const Field field : *this) {
    if (iequals(field.name, name)) return true;
  }
  return false;
}

void FieldSection::add(std::string_view name, std::string_view value) {
  places_.push_back({.begin = static_cast<std::uint32_t>(lines_.size()),
                     .name_size = static_cast<std::uint32_t>(name.size()),
                     .value_size = static_cast<std::uint32_t>(value.size())});
  lines_.append(name).append(separator).append(value).append("\r\n");
}

void FieldSection::add(const FieldView& field) {
  add(field.name, field.value);
  places_.back().is_never_indexed = field.is_never_indexed;
}

void FieldSection::add(const FieldSection& other) {
  const auto shift = static_cast<std::uint32_t>(lines_.size());
  lines_.append(other.lines_);
  for (Place place : other.places_) {
    place.begin += shift;
    places_.push_back(place);
  }
}

}  // namespace weir::http
