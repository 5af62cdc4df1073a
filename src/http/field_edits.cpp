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
      added_.push_back({.name = name,
                        .text = name + ": " + value + "\r\n",
                        .is_about_content = holds_name(content_fields, name)});
      lines_ += added_.back().text;
    }
  }
}

bool FieldEdits::takes_out(std::string_view name) const {
  return holds_name(taken_out_, name);
}

std::vector<std::string> FieldEdits::written() const {
  std::vector<std::string> names;
  for (const Line& line : added_)
    names.push_back(line.name);
  return names;
}

bool FieldEdits::writes(std::string_view name) const {
  return std::ranges::any_of(added_, [name](const Line& one) { return iequals(one.name, name); });
}

void FieldEdits::append_to_answer(Appender& out, std::string_view own, bool is_error) const {
  for (const Line& line : added_) {
    const bool is_left_out = (is_error && line.is_about_content) ||
                             holds_name(answer_fields, line.name) || has_field_line(own, line.name);
    if (!is_left_out) out.add(line.text);
  }
}

bool has_field_line(std::string_view lines, std::string_view name) {
  while (!lines.empty()) {
    if (iequals(lines.substr(0, lines.find(':')), name)) return true;
    const std::size_t end = lines.find('\n');
    if (end == std::string_view::npos) return false;
    lines.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace weir::http
