#include "decision/usage_meter.hpp"

#include <algorithm>

#include "http/characters.hpp"

namespace weir::decision {

bool UsageMeter::prepare(const limiter::HeldUnits& held) {
  has_begun_ = false;
  has_ended_ = false;
  readings_.clear();
  for (std::size_t i = 0; i < held.limits.size(); ++i) {
    const limiter::Charge* const charge = held.limits[i].charge;
    if (charge == nullptr || !charge->cost_from) continue;
    const usage::UsagePlan& plan = *charge->cost_from;
    readings_.push_back({.scanner = usage::UsageScanner(plan), .plan = &plan, .hold = i});
  }
  return !readings_.empty();
}

bool UsageMeter::reads_body() const {
  return std::ranges::any_of(readings_,
                             [](const Reading& one) { return !one.plan->pointers().empty(); });
}

bool UsageMeter::reads_fields() const {
  const auto is_field = [](const usage::UsagePlan::Entry& entry) { return !entry.field.empty(); };
  return std::ranges::any_of(readings_, [&](const Reading& one) {
    return std::ranges::any_of(one.plan->entries(), is_field);
  });
}

void UsageMeter::begin(std::span<const http::FieldView> fields) {
  std::string_view content_type;
  std::string_view content_encoding;
  for (const http::FieldView& field : fields) {
    if (http::iequals(field.name, "content-type")) content_type = field.value;
    if (http::iequals(field.name, "content-encoding")) content_encoding = field.value;
  }
  has_begun_ = true;
  for (Reading& one : readings_) {
    one.scanner.begin(content_type, content_encoding);
    for (const http::FieldView& field : fields)
      add_field(one, field.name, field.value);
    one.needs_body = one.scanner.needs_body();
  }
}

void UsageMeter::end(const http::FieldSection& trailers) {
  has_ended_ = true;
  for (const http::Field field : trailers) {
    for (Reading& one : readings_)
      add_field(one, field.name, field.value);
  }
}

void UsageMeter::settle(limiter::HeldUnits& held) {
  if (!has_begun_) return;
  const auto end = has_ended_ ? usage::BodyEnd::complete : usage::BodyEnd::cut_off;
  for (Reading& one : readings_)
    held.limits[one.hold].stated = one.scanner.finish(end);
}

void UsageMeter::add_field(Reading& reading, std::string_view name, std::string_view value) {
  const auto entries = reading.plan->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].field.empty() && http::iequals(entries[i].field, name))
      reading.scanner.add_field(i, value);
  }
}

}  // namespace weir::decision
