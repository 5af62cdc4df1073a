#include "decision/hold_report.hpp"

#include "base/text.hpp"
#include "http/characters.hpp"

namespace weir::decision {
namespace {

constexpr int client_left_status = 499;

constexpr http::Refusal no_id{
    400, "Weir-Hold is not the id of a hold: send the Weir-Hold field of the decision"};
constexpr http::Refusal no_status{
    400,
    "a report with Weir-Hold needs one Weir-Status: send the status of the response, such as "
    "200, or 499 if the client left"};

struct Fields {
  std::string_view value;
  int count = 0;
};

Fields fields_named(const http::RequestView& request, std::string_view name) {
  Fields found;
  for (const http::FieldView& field : request.fields) {
    if (!http::iequals(field.name, name)) continue;
    found.value = field.value;
    ++found.count;
  }
  return found;
}

std::optional<int> status_of(std::string_view text) {
  const auto status = parse_number<int>(text);
  return text.size() == 3 && status.value_or(0) >= 100 ? status : std::nullopt;
}

}  // namespace

bool is_hold_report(const http::RequestView& request) {
  return request.find("weir-hold") != nullptr;
}

Result<HoldReport, http::Refusal> read_hold_report(const http::RequestView& request) {
  const Fields hold = fields_named(request, "weir-hold");
  const auto id = hash_from_hex(hold.value);
  if (hold.count != 1 || !id) return no_id;
  const Fields reported = fields_named(request, "weir-status");
  const auto status = status_of(reported.value);
  if (reported.count != 1 || !status) return no_status;
  HoldReport report{.id = *id, .end = {}};
  if (*status == client_left_status)
    report.end.client_has_left = true;
  else
    report.end.status = status;
  return report;
}

}  // namespace weir::decision
