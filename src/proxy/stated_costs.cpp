#include "proxy/stated_costs.hpp"

#include <string_view>

#include "http/forwarded_head.hpp"

namespace weir::proxy {
namespace {

/// A client that waits for it sends its body only after this response (RFC 9110 section 10.1.1).
loop::Task<error_code> send_continue(Responder& responder) {
  const http::StatusLine line{.status = 100, .reason = "Continue"};
  const http::ConnectionOptions connection;
  co_return co_await responder.interim(
      {.line = line, .fields = {}, .connection = connection, .body = {}});
}

}  // namespace

loop::Task<Failure> StatedCosts::read(const http::ReceivedRequest& request,
                                      const ClientSide& client, Duration timeout,
                                      limiter::RequestEvidence& evidence) {
  if (!reserves_.begin(request, evidence)) co_return Failure::none;
  was_read_ = true;
  client.body->keep(decision::largest_stating_body);
  if (request.view.version_minor > 0 && request.view.find(http::FieldId::expect) != nullptr &&
      co_await send_continue(*client.responder))
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
