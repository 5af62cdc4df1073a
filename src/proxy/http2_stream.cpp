#include "proxy/http2_stream.hpp"

#include <algorithm>
#include <utility>

#include "decision/header_list_inspection.hpp"
#include "http/request_view.hpp"
#include "proxy/context.hpp"
#include "proxy/grpc_call.hpp"
#include "proxy/http2_tunnel.hpp"
#include "proxy/own_answers.hpp"
#include "proxy/websocket_key.hpp"

namespace weir::proxy {
namespace {

/// The bytes of a head as they are counted in the access log: as text, before compression.
std::size_t size_of(const http::FieldSection& fields) {
  std::size_t size = 0;
  for (const http::Field field : fields)
    size += field.name.size() + field.value.size();
  return size;
}

/// Reads grpc-status, if it is there: one in the trailers replaces one in the head.
template <class Fields>
void read_grpc_status(const Fields& fields, std::optional<grpc::Status>& to) {
  for (const auto& field : fields) {
    if (http::iequals(field.name, "grpc-status")) to = grpc::parse_status(field.value);
  }
}

constexpr std::size_t most_interims = 32;  ///< forwarded for a request

const error_code client_gone = asio::error::connection_reset;

}  // namespace

void Http2RequestBody::clear() {
  bytes_.clear();
  at_ = unconsumed_ = keep_most_ = 0;
  is_kept_ = true;
  trailers_ = nullptr;
  received_ = 0;
}

void Http2RequestBody::begin(bool is_tunnel) {
  has_ended_ = is_tunnel || (bytes_.empty() && stream_.has_ended());
}

void Http2RequestBody::add(std::string_view bytes) {
  bytes_.append(bytes);
  unconsumed_ += bytes.size();
  arrival_.notify();
}

BodyState Http2RequestBody::pull(std::string_view& piece) {
  if (at_ < bytes_.size()) {
    piece = std::string_view(bytes_).substr(at_);
    at_ = bytes_.size();
    received_ += piece.size();
    stream_.link().session().consume(stream_, std::exchange(unconsumed_, 0));
    stream_.link().schedule_output();  // an update of the windows
    return BodyState::payload;
  }
  piece = {};
  if (!stream_.has_ended()) return BodyState::exhausted;
  if (trailers_ != nullptr && !has_ended_) {
    for (const http::Field field : stream_.trailers())
      trailers_->add(
          {.is_never_indexed = field.is_never_indexed, .name = field.name, .value = field.value});
  }
  has_ended_ = true;
  return BodyState::ended;
}

/// Bytes are dropped here only, where no one uses them any more.
loop::Task<error_code> Http2RequestBody::fill() {
  if (at_ == bytes_.size() && at_ > 0 && !can_keep_more()) {
    bytes_.clear();
    at_ = 0;
    is_kept_ = false;
  }
  while (at_ == bytes_.size() && !stream_.has_ended()) {
    if (stream_.is_gone()) co_return client_gone;
    if (const error_code ec = co_await arrival_.wait()) co_return ec;
  }
  co_return error_code{};
}

void Http2RequestBody::rewind() {
  at_ = 0;
  received_ = 0;
  has_ended_ = false;
}

bool Http2RequestBody::client_has_left() {
  return stream_.is_gone();
}

void Http2Responder::begin_request(const http::ReceivedRequest& request,
                                   const options::Proxy& options) {
  request_ = &request;
  limits_ = &options.downstream;
  clear();
  bytes_.clear();
  at_ = uncounted_ = interims_ = 0;
  placed_ = {};
  trailers_.clear();
  head_is_due_ = head_has_left_ = is_ended_ = is_cut_ = false;
}

http::ClientHop Http2Responder::hop(const http::FieldSection* limit_fields) const {
  return {.keep_alive = true, .limit_fields = limit_fields, .request_id = request_->id};
}

/// The session reads after it has sent the head.
std::size_t Http2Responder::read(char* to, std::size_t most) {
  head_has_left_ = true;
  std::size_t size = std::min(most, bytes_.size() - at_);
  bytes_.copy(to, size, at_);
  at_ += size;
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
    const std::size_t placed = std::min(most - size, placed_.size());
    placed_.copy(to + size, placed);
    placed_.remove_prefix(placed);
    size += placed;
  }
  if (left() <= resumed_at) departure_.notify();
  if (is_cut_ && left() == 0)
    stream_.link().session().reset(stream_, http2::ErrorCode::internal_error);
  return size;
}

loop::Task<> Http2Responder::answer(OwnAnswer answer) {
  Context& context = stream_.context();
  fields_.clear();
  add_own_answer_fields(fields_, answer, hop(answer.limit_fields),
                        context.date.at(context.pass_clock.now()));
  status_ = answer.status;
  is_grpc_ = request_->is_grpc_call;
  grpc_status_.reset();
  if (is_grpc_) read_grpc_status(fields_, grpc_status_);
  head_is_due_ = true;
  bytes_.clear();
  if (has_content(answer.status) && request_->view.method != "HEAD") bytes_.append(answer.body);
  is_ended_ = true;
  trailers_.clear();
  trailers_.add(*answer.trailers);
  if (is_grpc_) read_grpc_status(trailers_, grpc_status_);
  uncounted_ = bytes_.size();
  error_code ec;
  send(ec);
  co_return;
}

/// They wait in the session, so an upstream that sends them without end is not followed.
loop::Task<error_code> Http2Responder::interim(const http::ResponseHead& head) {
  if (stream_.is_gone()) co_return client_gone;
  if (++interims_ > most_interims) co_return error_code{};
  http::FieldSection fields;
  http::add_interim_fields(fields, head);
  bytes_sent_ += size_of(fields);
  stream_.link().session().inform(stream_, head.line.status, fields);
  stream_.link().schedule_output();
  co_return error_code{};
}

void Http2Responder::begin(const ForwardedAnswer& answer) {
  status_ = answer.head.line.status;
  grpc_status_.reset();
  is_grpc_ = request_->is_grpc_call;
  if (is_grpc_) read_grpc_status(answer.head.fields, grpc_status_);
  fields_.clear();
  http::add_response_fields(fields_, answer.head, hop(answer.limit_fields), answer.date);
  bytes_.clear();
  uncounted_ = 0;
  head_is_due_ = true;
  is_ended_ = false;
}

bool Http2Responder::append(std::string_view piece) {
  if (piece.size() > gather_limit) return false;
  bytes_.append(piece);
  uncounted_ += piece.size();
  return true;
}

void Http2Responder::end(const http::FieldSection& trailers) {
  is_ended_ = true;
  trailers_.clear();
  trailers_.add(trailers);
  if (!is_grpc_) return;
  read_grpc_status(trailers, grpc_status_);
  if (!grpc_status_) grpc_status_ = grpc::status_of_http(status_);
}

bool Http2Responder::send(error_code& ec) {
  ec = stream_.is_gone() ? client_gone : error_code{};
  has_begun_ = true;
  bytes_sent_ += std::exchange(uncounted_, 0);
  http2::Session& session = stream_.link().session();
  if (std::exchange(head_is_due_, false)) {
    const bool has_body = !is_ended_ || left() > 0 || !trailers_.empty();
    bytes_sent_ += size_of(fields_);
    session.respond(stream_, status_, fields_, has_body);
  } else {
    session.resume(stream_);
  }
  stream_.link().schedule_output();
  return !ec && left() > most_waiting;
}

loop::Task<error_code> Http2Responder::flush() {
  stream_.watchdog().arm(Phase::body, limits_->body_timeout);
  return drain_to(resumed_at);
}

/// Waits until at most this many bytes are left.
loop::Task<error_code> Http2Responder::drain_to(std::size_t most) {
  while (left() > most) {
    if (stream_.is_gone()) co_return client_gone;
    if (const error_code ec = co_await departure_.wait()) co_return ec;
  }
  co_return error_code{};
}

loop::Task<error_code> Http2Responder::send_from_place(std::string_view piece) {
  placed_ = piece;
  bytes_sent_ += piece.size();
  stream_.link().session().resume(stream_);
  stream_.link().schedule_output();
  stream_.watchdog().arm(Phase::body, limits_->body_timeout);
  const error_code ec = co_await drain_to(0);
  placed_ = {};
  co_return ec;
}

/// An extended CONNECT is answered 200 (RFC 8441 section 5).
loop::Task<error_code> Http2Responder::switch_protocols(const ForwardedAnswer& answer) {
  status_ = 200;
  fields_.clear();
  http::add_switching_fields(fields_, answer.head, hop(answer.limit_fields));
  head_is_due_ = true;
  error_code ec;
  send(ec);
  co_return ec;
}

loop::Task<bool> Http2Responder::tunnel(TunnelEnd upstream) {
  Http2Tunnel tunnel(stream_, upstream, stream_.context().tunnel_scratch());
  const bool has_ended = co_await tunnel.run();
  if (!has_ended) reset();  // the client must be able to detect the cut
  co_return has_ended || stream_.watchdog().timed_out();
}

/// A reset overtakes a head and data that the session has not sent, so it waits for them. The
/// deadline of the stream ends the wait for a client that does not take them in time.
void Http2Responder::reset() {
  http2::Session& session = stream_.link().session();
  is_ended_ = false;
  is_cut_ = (!head_has_left_ || left() > 0) && !stream_.watchdog().timed_out();
  is_cut_ ? session.resume(stream_) : session.reset(stream_, http2::ErrorCode::internal_error);
  stream_.link().schedule_output();
}

Http2Stream::Http2Stream(Context& context)
    : context_(context),
      body_(*this, context.io),
      responder_(*this, context.io),
      watchdog_(context.wheel, *this),
      exchange_(context) {}

void Http2Stream::take(Http2Link& link) {
  link_ = &link;
  is_served_ = is_lost_ = false;
  watchdog_.renew();
  body_.clear();
}

loop::Task<> Http2Stream::serve(ClientConnection& client) {
  is_served_ = true;
  exchange_.begin({.watchdog = &watchdog_,
                   .body = &body_,
                   .responder = &responder_,
                   .number = client.number,
                   .serves = client.listener.serves});
  http::ReceivedRequest& request = exchange_.request();
  client.set_peer(request);
  request.scheme = client.stream.is_secure() ? "https" : "http";
  const bool opens_tunnel = !head().protocol().empty();
  body_.begin(opens_tunnel);
  responder_.begin_request(request, exchange_.options());
  const auto refusal = decision::inspect_header_list(*exchange_.generation().request_rules, head(),
                                                     !body_.has_ended(), request);
  request.is_grpc_call = is_grpc_call(request.view);
  if (opens_tunnel && request.view.find("sec-websocket-key") == nullptr)
    request.websocket_key = websocket_key(context_.random.next(), context_.random.next());
  if (refusal) {
    co_await exchange_.refuse(*refusal);
  } else {
    co_await exchange_.serve();
  }
  exchange_.finish();
  leave();
}

/// The response may still wait for the windows of the client, but only until a timeout.
void Http2Stream::leave() {
  const Duration timeout = exchange_.options().downstream.body_timeout;
  exchange_.release();
  is_served_ = false;
  if (is_gone()) return watchdog_.disarm(Phase::idle);
  if (!responder_.has_begun()) link_->session().reset(*this, http2::ErrorCode::cancel);
  watchdog_.arm(Phase::linger, timeout);
  link_->schedule_output();
}

void Http2Stream::give_up() {
  exchange_.release();
  is_served_ = false;
  watchdog_.disarm(Phase::idle);
  link_->session().reset(*this, http2::ErrorCode::internal_error);
  link_->schedule_output();
}

void Http2Stream::lose() {
  is_lost_ = true;
  watchdog_.client_left();
  cancel();
}

void Http2Stream::on_closed() {
  if (is_served_ && !responder_.has_ended()) watchdog_.client_left();
  if (!is_served_) watchdog_.disarm(Phase::idle);
  body_.notify();
  responder_.notify();
  link_->stream_closed(*this);
}

void Http2Stream::cancel() {
  if (!is_served_) return close();
  cancel_waits();
}

void Http2Stream::cancel_waits() {
  body_.cancel();
  responder_.cancel();
}

void Http2Stream::close() {
  link_->session().reset(*this, http2::ErrorCode::cancel);
  link_->schedule_output();
  is_lost_ = true;
  body_.cancel();
  responder_.cancel();
}

}  // namespace weir::proxy
