#include "decision/stated_reserves.hpp"

#include <span>

namespace weir::decision {
namespace {

std::string_view value_of(const http::RequestView& request, std::string_view name) {
  const http::FieldView* const field = request.find(name);
  return field == nullptr ? std::string_view{} : field->value;
}

bool may_be_read(const http::ReceivedRequest& request) {
  if (!request.has_body()) return false;
  return request.framing.kind != http::Framing::Kind::length ||
         request.framing.length <= largest_stating_body;
}

}  // namespace

bool StatedReserves::begin(const http::ReceivedRequest& request,
                           limiter::RequestEvidence& evidence) {
  sought_.clear();
  values_.clear();
  std::size_t count = 0;
  for (const limiter::RouteEvidence& route : evidence.routes())
    count += route.limits.size();
  values_.resize(count);
  std::size_t first = 0;
  for (std::size_t i = 0; i < evidence.routes().size(); ++i) {
    const auto limits = evidence.routes()[i].limits;
    for (std::size_t k = 0; k < limits.size(); ++k) {
      if (!limits[k].charge || !limiter::reads_request_body(*limits[k].charge)) continue;
      sought_.push_back({.scanner = usage::UsageScanner(*limits[k].charge->reserve->in_body),
                         .value = first + k});
      // Services read a body as JSON whatever its Content-Type, so that must not hide the number.
      sought_.back().scanner.begin("application/json", value_of(request.view, "content-encoding"));
    }
    evidence.add_stated(i, std::span(values_).subspan(first, limits.size()));
    first += limits.size();
  }
  return !sought_.empty() && may_be_read(request);
}

/// A value that a malformed body states does not count: its reader may see another one.
void StatedReserves::finish() {
  for (Sought& one : sought_) {
    const usage::Usage stated = one.scanner.finish(usage::BodyEnd::complete);
    if (stated.is_complete) values_[one.value] = stated.cost;
  }
}

}  // namespace weir::decision
