// Requests for tests: a RequestView over literals, with the field ids a parser would have set.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request_view.hpp"

namespace weir::http {

using NameValue = std::pair<std::string_view, std::string_view>;

inline std::vector<FieldView> fields_of(std::initializer_list<NameValue> lines) {
  std::vector<FieldView> fields;
  for (const auto& [name, value] : lines) {
    fields.push_back(
        {boost::beast::http::string_to_field({name.data(), name.size()}), name, value});
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
