#include "http/forwarding.hpp"

#include <charconv>
#include <limits>

#include "http/field_list.hpp"

namespace weir::http {

bool has_passed(std::span<const FieldView> fields, std::string_view hop) {
  bool found = false;
  for (const FieldView& field : fields) {
    if (field.id != FieldId::via) continue;
    for_each_element(field.value, [&](std::string_view element) {
      // received-protocol RWS received-by [ RWS comment ]
      const auto protocol_end = element.find_first_of(" \t");
      if (protocol_end == std::string_view::npos) return;
      const std::string_view received_by = trimmed(element.substr(protocol_end));
      found |= iequals(received_by.substr(0, received_by.find_first_of(" \t")), hop);
    });
  }
  return found;
}

Result<std::optional<std::uint64_t>, Refusal> max_forwards(const RequestView& request) {
  constexpr Refusal refusal{400, "Max-Forwards is not a number"};
  std::optional<std::uint64_t> left;
  if (request.method != "OPTIONS") return left;
  for (const FieldView& field : request.fields) {
    if (field.id != FieldId::max_forwards) continue;
    if (left) return refusal;
    const char* const end = field.value.data() + field.value.size();
    const auto [stop, error] = std::from_chars(field.value.data(), end, left.emplace(0));
    if (stop != end || error == std::errc::invalid_argument) return refusal;
    // Larger than the limit: the limit is used (RFC 9110 section 7.6.2).
    if (error == std::errc::result_out_of_range) left = std::numeric_limits<std::uint64_t>::max();
  }
  return left;
}

}  // namespace weir::http
