#include "proxy/http1_request_body.hpp"

#include <utility>

namespace weir::proxy {

Http1RequestBody::~Http1RequestBody() {
  if (buffer_) connection_.context.give_back(std::move(buffer_));
}

void Http1RequestBody::begin(const http::ReceivedRequest& request) {
  received_ = 0;
  has_ended_ = !request.has_body();
  if (has_ended_ || !request.is_framed) return source_.reset();
  framing_ = request.framing;
  keep_most_ = 0;
  kept_ = KeptBody(connection_.input.mark());
  restart();
}

void Http1RequestBody::restart() {
  source_.emplace(connection_.stream, connection_.input, framing_);
  reads_buffer_ = false;
}

void Http1RequestBody::keep_trailers(http::Trailers& trailers) {
  if (source_) source_->keep_trailers(trailers);
}

BodyState Http1RequestBody::pull(std::string_view& piece) {
  if (!source_) return BodyState::ended;
  BodyState state = source_->pull(piece);
  if (state == BodyState::exhausted && buffer_ != nullptr && !reads_buffer_) {
    source_->continue_in(*buffer_);
    reads_buffer_ = true;
    state = source_->pull(piece);
  }
  received_ += piece.size();
  has_ended_ = state == BodyState::ended;
  return state;
}

loop::Task<error_code> Http1RequestBody::fill() {
  if (!buffer_) {
    buffer_ = connection_.context.take_body_buffer();
    // The rest of an incomplete piece, such as a trailer line, is moved too.
    kept_.continue_in_buffer(source_->continue_in(*buffer_), keep_most_);
    reads_buffer_ = true;
  }
  source_->keep(kept_);
  return source_->fill();
}

/// Bytes that have not been read are taken for those of the body, if there is one.
bool Http1RequestBody::client_has_left() {
  loop::Stream& stream = connection_.stream;
  return stream.has_ended() || (!has_ended_ && stream.peer_has_closed());
}

bool Http1RequestBody::can_keep_more() const {
  return buffer_ ? kept_.has_room() : kept_.size_with_head() < keep_most_;
}

void Http1RequestBody::rewind() {
  if (!source_) return;
  kept_.rewind(connection_.input, buffer_.get());
  received_ = 0;
  has_ended_ = false;
  restart();
}

loop::Task<bool> Http1RequestBody::discard(std::size_t most, Duration step_timeout) {
  if (buffer_) {
    connection_.input.append(buffer_->data());
    connection_.context.give_back(std::move(buffer_));
  }
  if (has_ended_) co_return true;
  std::string_view piece;
  for (std::size_t discarded = 0; discarded <= most;) {
    const BodyState state = source_->pull(piece);
    if (state == BodyState::ended) co_return true;
    if (state == BodyState::malformed) co_return false;
    discarded += piece.size();
    if (state == BodyState::payload) continue;
    connection_.watchdog.arm(Phase::linger, step_timeout);
    if (co_await source_->fill()) co_return false;
    if (is_costly()) co_await connection_.context.bursts.next();
  }
  co_return false;
}

}  // namespace weir::proxy
