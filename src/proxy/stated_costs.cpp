#include "proxy/stated_costs.hpp"

#include <string_view>

#include "http/forwarded_head.hpp"

namespace weir::proxy {
namespace {

std::string_view value_in(const http::RequestView& request, std::string_view name) {
  const http::FieldView* const field = request.find(name);
  return field == nullptr ? std::string_view{} : field->value;
}

bool may_be_read(const http::ReceivedRequest& request) {
  if (!request.has_body()) return false;
  return request.framing.kind != http::Framing::Kind::length ||
         request.framing.length <= StatedCosts::largest_body;
}

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
  prepare(request, evidence);
  if (sought_.empty() || !may_be_read(request)) co_return Failure::none;
  was_read_ = true;
  client.body->keep(largest_body);
  if (request.view.version_minor > 0 && request.view.find(http::FieldId::expect) != nullptr &&
      co_await send_continue(*client.responder))
    co_return Failure::downstream_gone;
  const Failure failure = co_await scan(client, timeout);
  if (failure == Failure::none) finish();
  co_return failure;
}

void StatedCosts::prepare(const http::ReceivedRequest& request,
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
      sought_.back().scanner.begin("application/json", value_in(request.view, "content-encoding"));
    }
    evidence.add_stated(i, std::span(values_).subspan(first, limits.size()));
    first += limits.size();
  }
}

loop::Task<Failure> StatedCosts::scan(const ClientSide& client, Duration timeout) {
  RequestBody& body = *client.body;
  is_whole_ = false;
  std::string_view piece;
  for (;;) {
    switch (body.pull(piece)) {
      case BodyState::payload:
        for (Sought& one : sought_)
          one.scanner.feed(piece);
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

/// A value that a malformed body states does not count: its reader may see another one.
void StatedCosts::finish() {
  if (!is_whole_) return;
  for (Sought& one : sought_) {
    const usage::Usage stated = one.scanner.finish(usage::BodyEnd::complete);
    if (stated.is_complete) values_[one.value] = stated.cost;
  }
}

}  // namespace weir::proxy
