#include "decision/usage_meter.hpp"

#include <algorithm>
#include <utility>

#include "grpc/fields.hpp"
#include "http/characters.hpp"

namespace weir::decision {

bool UsageMeter::prepare(const limiter::HeldUnits& held) {
  has_begun_ = has_ended_ = reads_outcome_ = has_grpc_content_ = false;
  grpc_status_.reset();
  for (std::size_t i = 0; i < held.limits.size(); ++i) {
    const limiter::Charge* const charge = held.limits[i].charge;
    if (charge == nullptr) continue;
    if (charge->by_grpc_status) reads_outcome_ = true;
    if (!charge->cost_from) continue;
    const usage::UsagePlan& plan = *charge->cost_from;
    readings_.push_back({.scanner = usage::UsageScanner(plan), .plan = &plan, .hold = i});
  }
  return reads_outcome_ || !readings_.empty();
}

bool UsageMeter::reads_body() const {
  return std::ranges::any_of(readings_,
                             [](const Reading& one) { return !one.plan->pointers().empty(); });
}

bool UsageMeter::reads_fields() const {
  const auto is_field = [](const usage::UsagePlan::Entry& entry) { return !entry.field.empty(); };
  return reads_outcome_ || std::ranges::any_of(readings_, [&](const Reading& one) {
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
  has_grpc_content_ = reads_outcome_ && grpc::is_grpc(content_type);
  grpc_status_.reset();
  for (Reading& one : readings_)
    one.scanner.begin(content_type, content_encoding);
  for (const http::FieldView& field : fields)
    add_field(field.name, field.value);
  for (Reading& one : readings_)
    one.needs_body = one.scanner.needs_body();
}

void UsageMeter::end(const http::FieldSection& trailers) {
  has_ended_ = true;
  for (const http::Field field : trailers)
    add_field(field.name, field.value);
}

std::optional<grpc::Status> UsageMeter::grpc_status(int http_status) const {
  if (!is_grpc() || grpc_status_) return grpc_status_;
  return has_ended_ ? std::optional(grpc::status_of_http(http_status)) : std::nullopt;
}

void UsageMeter::add_outcome(limiter::RequestEnd& how) const {
  if (!has_begun_ || !how.status || !is_grpc()) return;
  how.is_grpc = true;
  if (const auto status = grpc_status(*how.status)) how.grpc_status = grpc::code_of(*status);
}

void UsageMeter::settle(limiter::HeldUnits& held) {
  if (!std::exchange(has_begun_, false)) return;
  const auto end = has_ended_ ? usage::BodyEnd::complete : usage::BodyEnd::cut_off;
  for (Reading& one : readings_)
    held.limits[one.hold].stated = one.scanner.finish(end);
}

void UsageMeter::add_field(std::string_view name, std::string_view value) {
  if (reads_outcome_ && http::iequals(name, "grpc-status"))
    grpc_status_ = grpc::parse_status(value);
  for (Reading& reading : readings_) {
    const auto entries = reading.plan->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].field.empty() && http::iequals(entries[i].field, name))
        reading.scanner.add_field(i, value);
    }
  }
}

}  // namespace weir::decision
