#include "proxy/exchange_copy.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {
namespace {

/// Reads the kept bytes again, up to the same place.
std::string kept_text(RequestBody& body) {
  std::string text;
  if (!body.is_kept()) return text;
  body.rewind();
  for (std::string_view piece; body.pull(piece) == BodyState::payload;)
    text += piece;
  return text;
}

/// Empty: a configuration in shadow does not decide such calls.
std::optional<decision::CopiedMethod> copied_method(rls::Method method, bool is_grpc) {
  switch (method) {
    case rls::Method::decide:
      return is_grpc ? decision::CopiedMethod::decide : decision::CopiedMethod::decide_json;
    case rls::Method::check:
      return decision::CopiedMethod::check;
    case rls::Method::report:
      return decision::CopiedMethod::report;
    case rls::Method::reserve:
      break;
  }
  return std::nullopt;
}

}  // namespace

void ExchangeCopy::begin(decision::TrafficCopy& copy, const http::ReceivedRequest& request,
                         const decision::Decision& decision, RequestBody* read_body, Instant at) {
  // Without a route or a limit, the evaluation is that of an earlier request.
  const bool is_limited = decision.route() != nullptr && decision.is_limited();
  if (is_limited && decision.evaluation().is_overridden) return copy.skip();
  try {
    const std::string body = read_body == nullptr ? std::string() : kept_text(*read_body);
    number_ = copy.add({.at = at, .request = request, .body = body});
  } catch (const std::bad_alloc&) {
    copy.skip();
  }
}

void ExchangeCopy::end(decision::TrafficCopy* copy, const decision::Decision& decision,
                       const DecisionRecord& record, const limiter::RequestEnd& how,
                       Instant decided_at, Instant now) {
  const std::uint64_t number = std::exchange(number_, 0);
  if (copy == nullptr) return;
  decision::TrafficCopy::End end{.number = number, .at = now, .how = how};
  const bool is_limited = record.outcome == limiter::Outcome::allowed;
  if (decision.route() != nullptr && (is_limited || record.outcome == limiter::Outcome::unlimited))
    end.served = std::max(now - decided_at - record.delay, Duration{0});
  if (is_limited && decision.evaluation().has_holds) {
    // Another proxy reports the end of its request later, and to the running configuration only.
    if (decision.route()->decide)
      end.how.lease_has_ended = true;
    else
      end.held = &decision.evaluation().held;
  }
  copy->add(end);
}

void copy_call(decision::TrafficCopy& copy, const CallToCopy& call) {
  const auto method = copied_method(call.method, call.is_grpc);
  if (!method || call.message.empty() || call.is_overridden) return copy.skip();
  copy.add(*method, call.message, call.at);
}

}  // namespace weir::proxy
