#include "limiter/charge.hpp"

#include <algorithm>

namespace weir::limiter {

std::string describe(const usage::UsagePlan& cost_from) {
  std::string text;
  for (const usage::UsagePlan::Entry& entry : cost_from.entries()) {
    if (!text.empty()) text += ", else ";
    if (!entry.field.empty()) {
      text += "header " + entry.field;
      continue;
    }
    std::string sum;
    usage::for_each_pointer(entry.pointers, [&](std::size_t pointer) {
      sum += (sum.empty() ? "JSON " : " + ") + cost_from.pointers()[pointer].text();
    });
    text += sum;
  }
  return text;
}

namespace {

bool charges(const ChargeByStatus& charge, int status) {
  const bool is_listed = std::ranges::any_of(charge.statuses, [&](const StatusRange& range) {
    return range.first <= status && status <= range.last;
  });
  return is_listed != charge.is_exclusion;
}

/// `end`: has a response, and of a call that is charged by its status a complete one.
bool charges(const Charge& charge, const RequestEnd& end) {
  if (charge.by_grpc_status && end.is_grpc)
    return charges(*charge.by_grpc_status, *end.grpc_status);
  if (charge.by_status) return charges(*charge.by_status, *end.status);
  return !charge.by_grpc_status || charge.by_grpc_status->is_exclusion;
}

/// True if the server has ended the call at the client's deadline: it may have done all of its
/// work, with an outcome that nobody has seen.
bool is_cut_at_deadline(const RequestEnd& end) {
  constexpr int deadline_exceeded = 4;
  return end.is_grpc && end.deadline_has_passed && end.grpc_status == deadline_exceeded;
}

/// True if the response that decides about the charge has not arrived.
bool lacks_response(const Charge& charge, const RequestEnd& end) {
  if (!end.status) return true;
  return charge.by_grpc_status && end.is_grpc && (!end.grpc_status || is_cut_at_deadline(end));
}

void append_statuses(std::string& text, const ChargeByStatus& charge, std::string_view kind) {
  if (!text.empty()) text += ", ";
  if (charge.is_exclusion)
    text.append("all ").append(kind).append("statuses but ");
  else
    text.append(kind).append("status ");
  std::string_view separator;
  for (const auto& [first, last] : charge.statuses) {
    text.append(separator).append(std::to_string(first));
    if (last != first) text.append("-").append(std::to_string(last));
    separator = ", ";
  }
}

SettledBy source_of(const usage::UsagePlan& plan, const usage::Usage& stated) {
  return plan.entries()[stated.entry].field.empty() ? SettledBy::json : SettledBy::header;
}

}  // namespace

std::string describe_statuses(const Charge& charge) {
  std::string text;
  if (charge.by_status) append_statuses(text, *charge.by_status, {});
  if (charge.by_grpc_status) append_statuses(text, *charge.by_grpc_status, "gRPC ");
  return text;
}

Settled settle(const Charge& charge, std::int64_t held, const RequestEnd& end,
               const std::optional<usage::Usage>& stated) {
  if (end.lease_has_ended) return {.units = held, .by = SettledBy::lease};
  if (lacks_response(charge, end)) {
    if (end.client_has_left || is_cut_at_deadline(end))
      return {.units = held, .by = SettledBy::aborted};
    return {.units = 0, .by = SettledBy::missing};
  }
  if (!charges(charge, end)) return {.units = 0, .by = SettledBy::status};
  if (!charge.cost_from) {
    const bool is_by_status = charge.by_status || charge.by_grpc_status;
    return {.units = held, .by = is_by_status ? SettledBy::status : SettledBy::reserve};
  }
  const SettledBy unknown = end.client_has_left ? SettledBy::aborted : SettledBy::missing;
  if (!stated || !stated->cost) {
    const bool is_free = charge.missing_is_free && !end.client_has_left;
    return {.units = is_free ? 0 : held, .by = unknown};
  }
  const std::int64_t cost = std::min(*stated->cost, charge.at_most);
  // The rest of a truncated body could have stated more.
  if (!stated->is_complete && cost < held) return {.units = held, .by = unknown};
  return {.units = cost, .by = source_of(*charge.cost_from, *stated)};
}

}  // namespace weir::limiter
