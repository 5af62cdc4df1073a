#include "proxy/upload.hpp"

#include <limits>

#include "decision/head_inspection.hpp"
#include "loop/ticks.hpp"
#include "proxy/retry_rule.hpp"

namespace weir::proxy {
namespace {

/// The approximate size of the pieces in which the body is sent.
constexpr std::size_t piece_size = 4 * gather_limit;

}  // namespace

Upload::Upload(const ForwardPhase& phase)
    : phase_(phase),
      body_(*phase.client.body),
      watchdog_(*phase.client.watchdog),
      is_sent_(body_.has_ended()) {
  if (phase.request.framing.kind != http::Framing::Kind::chunked) return;
  trailers_.open({.head = phase.request.fields,
                  .connection = phase.request.connection,
                  .guard = &phase.generation.request_rules->field_guard,
                  .edits = phase.request_edits});
  body_.keep_trailers(trailers_);
}

void Upload::append_arrived(UpstreamStream& upstream) {
  if (is_sent_) return upstream.end(http::no_fields);
  append_body(upstream, std::numeric_limits<std::size_t>::max());
  is_sent_ = body_.has_ended();
}

/// Appends the part of the body that has arrived, up to the piece that makes it `most` bytes.
BodyState Upload::append_body(UpstreamStream& upstream, std::size_t most) {
  std::size_t size = 0;
  std::string_view piece;
  BodyState state = BodyState::payload;
  while (size < most && (state = body_.pull(piece)) == BodyState::payload) {
    upstream.append(piece);
    size += piece.size();
  }
  if (state == BodyState::ended) upstream.end(trailers_.fields());
  if (state == BodyState::malformed) state_.failure = Failure::body_malformed;
  if (decision::is_too_large(phase_.generation.options.downstream, body_.received()))
    state_.failure = Failure::body_too_large;
  return state;
}

void Upload::start(UpstreamStream& upstream) {
  state_.has_finished = false;
  upstream_ = &upstream;
  began_at_ = phase_.context.wheel.now();
  ended_.emplace(phase_.context.io.get_executor(), loop::Timer::time_point::max());
  body_.keep(kept_body_limit(phase_.upstream(), phase_.request));
  loop::spawn(phase_.context.io, run(upstream));
}

/// The task that runs concurrently with the response.
loop::Task<> Upload::run(UpstreamStream& upstream) {
  try {
    co_await send_rest(upstream);
  } catch (...) {
    keep_exception();
    state_.failure = Failure::downstream_gone;  // no response: the connection is given up
    upstream.close();
  }
  if (state_.failure != Failure::none) upstream.cancel();
  state_.has_finished = true;
  ended_->cancel();
}

loop::Task<> Upload::send_rest(UpstreamStream& upstream) {
  error_code ec;
  while (!is_sent_ && !is_unwanted_ && state_.failure == Failure::none && !ec) {
    if (phase_.is_past_deadline()) {
      state_.failure = Failure::deadline_passed;
      break;
    }
    const BodyState state = append_body(upstream, piece_size);
    if (state_.failure != Failure::none) break;
    watchdog_.arm(Phase::body, phase_.body_timeout());
    // An upstream that accepts no more bytes may have responded already: the response decides.
    state_.waits_for_upstream = true;
    if (upstream.send(ec)) ec = co_await upstream.flush();
    state_.waits_for_upstream = false;
    is_sent_ = state == BodyState::ended && !ec;
    if (state != BodyState::exhausted || ec || is_unwanted_) continue;
    // After end() the client may still be sending: another try continues to read.
    if (co_await body_.fill() && !is_unwanted_)
      state_.failure = phase_.blame(why_body_ended(watchdog_.interruptions()));
    if (body_.is_costly()) co_await phase_.context.bursts.next();
  }
  if (!is_sent_) co_return;
  if (phase_.client.responder->has_begun()) {
    watchdog_.arm(Phase::relay, phase_.body_timeout());
  } else {
    watchdog_.arm(Phase::response, phase_.response_timeout());
  }
}

/// A client that occasionally sends a byte holds the body back as much as one that sends nothing.
/// Without the minimum of a second, a server that closes every connection would never be ejected.
bool Upload::is_held_back() const {
  constexpr std::uint64_t patience = loop::ticks_in(std::chrono::seconds(1));
  return !state_.has_finished && !state_.waits_for_upstream &&
         phase_.context.wheel.now() - began_at_ >= patience;
}

loop::Task<> Upload::end() {
  is_unwanted_ = true;
  body_.cancel();
  upstream_->cancel();
  while (!state_.has_finished) {
    error_code ec;
    co_await ended_->async_wait(loop::into(ec));
  }
}

}  // namespace weir::proxy
