#include "proxy/stated_costs.hpp"

#include <string_view>

#include "proxy/expectation.hpp"

namespace weir::proxy {

loop::Task<Failure> StatedCosts::read(const http::ReceivedRequest& request,
                                      const ClientSide& client, Duration timeout,
                                      limiter::RequestEvidence& evidence) {
  if (!reserves_.begin(request, evidence)) co_return Failure::none;
  was_read_ = true;
  client.body->keep(decision::largest_stating_body);
  if (expects_continue(request) && co_await send_continue(*client.responder))
    co_return Failure::downstream_gone;
  const Failure failure = co_await scan(client, timeout);
  if (failure == Failure::none && is_whole_) reserves_.finish();
  co_return failure;
}

loop::Task<Failure> StatedCosts::scan(const ClientSide& client, Duration timeout) {
  RequestBody& body = *client.body;
  is_whole_ = false;
  std::string_view piece;
  for (;;) {
    switch (body.pull(piece)) {
      case BodyState::payload:
        reserves_.feed(piece);
        continue;
      case BodyState::ended:
        is_whole_ = true;
        co_return Failure::none;
      case BodyState::malformed:
        co_return Failure::body_malformed;
      case BodyState::exhausted:
        break;
    }
    if (!body.can_keep_more()) co_return Failure::none;
    client.watchdog->arm(Phase::body, timeout);
    const error_code ec = co_await body.fill();
    if (client.watchdog->timed_out()) co_return Failure::body_timed_out;
    if (ec || client.watchdog->aborted()) co_return Failure::downstream_gone;
  }
}

}  // namespace weir::proxy
