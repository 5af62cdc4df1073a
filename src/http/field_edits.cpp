#include "http/field_edits.hpp"

#include <algorithm>
#include <array>

#include "http/request_view.hpp"

namespace weir::http {
namespace {

/// Fields about the body that a response has, and about keeping the response.
constexpr std::array<std::string_view, 17> content_fields{"accept-ranges",    "age",
                                                          "cache-control",    "cdn-cache-control",
                                                          "content-digest",   "content-disposition",
                                                          "content-encoding", "content-language",
                                                          "content-location", "content-md5",
                                                          "content-range",    "etag",
                                                          "expires",          "last-modified",
                                                          "location",         "repr-digest",
                                                          "surrogate-control"};
/// Fields that every answer of Weir has.
constexpr std::array<std::string_view, 3> answer_fields{"content-length", "content-type", "date"};

template <class Names>
bool holds_name(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [name](const auto& one) { return iequals(one, name); });
}

}  // namespace

FieldEdits::FieldEdits(const Fields& set, const Fields& add, const std::vector<std::string>& remove)
    : taken_out_(remove) {
  for (const auto& [name, value] : set)
    taken_out_.push_back(name);
  for (const Fields* const fields : {&set, &add}) {
    for (const auto& [name, value] : *fields) {
      added_.add(name, value);
      is_about_content_.push_back(holds_name(content_fields, name));
    }
  }
}

bool FieldEdits::takes_out(std::string_view name) const {
  return holds_name(taken_out_, name);
}

bool FieldEdits::adds_to_answer(std::size_t index, const FieldSection& own, bool is_error) const {
  const std::string_view name = added_[index].name;
  return !(is_error && is_about_content_[index]) && !holds_name(answer_fields, name) &&
         !own.contains(name);
}

}  // namespace weir::http
