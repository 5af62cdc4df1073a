#include "http/trailers.hpp"

#include <algorithm>

#include "http/field_list.hpp"

namespace weir::http {
namespace {

bool holds(std::string_view list, std::string_view name) {
  bool found = false;
  for_each_element(list, [&](std::string_view one) { found |= iequals(one, name); });
  return found;
}

void append_element(std::string& list, std::string_view name) {
  if (!list.empty()) list.append(", ");
  list.append(name);
}

}  // namespace

void Trailers::open(const Rules& rules) {
  open_ = true;
  only_announced_ = rules.only_announced;
  guard_ = rules.guard;
  edits_ = rules.edits;
  for (std::size_t i = 0; i < rules.connection.name_count; ++i)
    append_element(ends_here_, rules.connection.names[i]);
  for (const auto& field : rules.head) {
    if (field.id != FieldId::trailer) continue;
    for_each_element(field.value, [&](std::string_view name) {
      const bool goes_on =
          is_token(name) && !holds(announced_, name) && !is_refused({.name = name, .value = {}});
      if (goes_on) append_element(announced_, name);
    });
  }
}

bool Trailers::is_refused(const FieldView& field) const {
  return is_forbidden_in_trailers(field) || holds(ends_here_, field.name) ||
         (guard_ != nullptr && guard_->is_forbidden_in_trailers(field.name)) ||
         (edits_ != nullptr && edits_->takes_out(field.name));
}

void Trailers::add(const FieldView& field) {
  if (!open_ || is_refused(field)) return;
  if (only_announced_ && !holds(announced_, field.name)) return;
  fields_.add(field);
}

bool wants_trailers(const RequestView& request) {
  if (request.version_minor == 0) return false;
  return std::any_of(request.fields.begin(), request.fields.end(), [](const auto& field) {
    return field.id == FieldId::te && holds(field.value, "trailers");
  });
}

}  // namespace weir::http
