// The access log record of an exchange. Pure: it views the parts that it is made from.
#pragma once

#include "base/time.hpp"
#include "decision/request_routes.hpp"
#include "http/received_request.hpp"
#include "limiter/options.hpp"
#include "log/access_log.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

struct ExchangeFacts {
  const http::ReceivedRequest& request;
  const decision::RequestRoutes& routes;
  const DecisionRecord& decision;
  const ForwardingRecord& forwarded;
  const ClientSide& client;
  const limiter::Options& limits;
  Instant started_at{};
  Instant asked_at{};  ///< when the store was asked, if there is a decision
  Duration took{0};
  int status = 0;
  log::AbortedBy aborted_by = log::AbortedBy::none;
};

log::AccessRecord access_record(const ExchangeFacts& in);

}  // namespace weir::proxy
