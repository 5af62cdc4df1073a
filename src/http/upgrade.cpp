#include "http/upgrade.hpp"

#include "http/field_list.hpp"

namespace weir::http {
namespace {

template <class Visitor>
void for_each_protocol(std::span<const FieldView> fields, Visitor&& visit) {
  for (const FieldView& field : fields) {
    if (field.id == FieldId::upgrade) for_each_element(field.value, visit);
  }
}

}  // namespace

void append_upgrade_offer(std::string& out, std::span<const FieldView> fields) {
  bool is_first = true;
  for_each_protocol(fields, [&](std::string_view protocol) {
    if (iequals(protocol, "h2c")) return;
    if (!is_first) out.append(", ");
    out.append(protocol);
    is_first = false;
  });
}

bool takes_offer(std::span<const FieldView> answer, std::string_view offer) {
  bool any = false;
  bool all_offered = true;
  for_each_protocol(answer, [&](std::string_view taken) {
    bool offered = false;
    for_each_element(offer, [&](std::string_view one) { offered |= iequals(one, taken); });
    any = true;
    all_offered &= offered;
  });
  return any && all_offered;
}

}  // namespace weir::http
