// Requests for tests: a RequestView over literals, with the field ids a parser would have set.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "http/request_view.hpp"

namespace weir::http {

/// Made of two texts and of nothing else: a string_view alone would also be made of two, as a
/// range.
struct NameValue {
  std::string_view name;
  std::string_view value;

  template <class Name, class Value>
  NameValue(const Name& given_name, const Value& given_value)
      : name(given_name), value(given_value) {}
};

inline std::vector<FieldView> fields_of(std::initializer_list<NameValue> lines) {
  std::vector<FieldView> fields;
  for (const auto& [name, value] : lines) {
    fields.push_back({.id = boost::beast::http::string_to_field({name.data(), name.size()}),
                      .name = name,
                      .value = value});
  }
  return fields;
}

/// Owns the fields; everything else is a view into literals.
struct RequestOf {
  std::vector<FieldView> fields;
  RequestView view;

  explicit RequestOf(std::initializer_list<NameValue> lines, std::string_view method = "GET",
                     std::uint8_t version_minor = 1)
      : fields(fields_of(lines)) {
    view.method = method;
    view.version_minor = version_minor;
    view.fields = fields;
  }
  RequestOf(const RequestOf&) = delete;
  RequestOf& operator=(const RequestOf&) = delete;
};

}  // namespace weir::http
