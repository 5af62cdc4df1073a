// The report of another proxy about a request that it has served: the fields Weir-Hold, the id that
// the decision had, and Weir-Status, the status of the response. Pure.
#pragma once

#include "base/result.hpp"
#include "base/siphash.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"
#include "limiter/charge.hpp"

namespace weir::decision {

struct HoldReport {
  Hash128 id;
  limiter::RequestEnd end;  ///< Weir-Status: 499 means that the client left, as nginx logs it
};

/// True for a request with Weir-Hold.
bool is_hold_report(const http::RequestView& request);

/// Refuses a report that cannot be read.
Result<HoldReport, http::Refusal> read_hold_report(const http::RequestView& request);

}  // namespace weir::decision
