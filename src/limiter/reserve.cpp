#include "limiter/reserve.hpp"

#include <algorithm>

#include "http/characters.hpp"
#include "usage/number_reader.hpp"

namespace weir::limiter {
namespace {

std::optional<std::int64_t> count_in_field(const http::RequestView& request,
                                           const std::string& name) {
  const http::FieldView* const field = request.find(name);
  if (field == nullptr) return std::nullopt;
  const auto is_named = [&](const http::FieldView& one) { return http::iequals(one.name, name); };
  if (std::ranges::count_if(request.fields, is_named) > 1) return std::nullopt;
  return usage::parse_count(http::trimmed(field->value));
}

}  // namespace

std::int64_t units_of(const Reserve& reserve, const http::RequestView& request,
                      std::optional<std::int64_t> in_body) {
  std::optional<std::int64_t> stated = in_body;
  if (!reserve.header.empty()) stated = count_in_field(request, reserve.header);
  return std::clamp<std::int64_t>(stated.value_or(reserve.units), 1, reserve.at_most);
}

std::string describe(const Reserve& reserve) {
  std::string source;
  if (!reserve.header.empty()) source = "header " + reserve.header;
  if (reserve.in_body) source = "JSON " + reserve.in_body->pointers().front().text();
  if (source.empty()) return std::to_string(reserve.units);
  source += " of the request, else " + std::to_string(reserve.units);
  if (reserve.at_most < usage::largest_count)
    source += ", at most " + std::to_string(reserve.at_most);
  return source;
}

}  // namespace weir::limiter
