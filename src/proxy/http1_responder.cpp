#include "proxy/http1_responder.hpp"

#include "http/chunked.hpp"
#include "loop/ticks.hpp"
#include "proxy/own_answers.hpp"
#include "proxy/tunnel.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t tunnel_input = 4 * 1024;

}  // namespace

void Http1Responder::begin_request(const http::ReceivedRequest& request,
                                   const options::Proxy& options) {
  request_ = &request;
  limits_ = &options.downstream;
  clear();
  keep_alive_ = false;
  is_building_ = false;
}

http::ClientHop Http1Responder::hop(const http::FieldSection* limit_fields) const {
  return {.version_minor = request_->view.version_minor,
          .keep_alive = keep_alive_,
          .limit_fields = limit_fields,
          .request_id = request_->id};
}

/// True for a HEAD request, even if it is not valid: its sender reads no content after the head
/// (RFC 9110 section 9.3.2). The bytes of an invalid request are still in the input.
bool Http1Responder::asks_for_head() const {
  const std::string_view method = request_->view.method;
  return method.empty() ? connection_.input.data().starts_with("HEAD ") : method == "HEAD";
}

loop::Task<> Http1Responder::answer(OwnAnswer answer) {
  const bool will_be_read =
      body_.has_ended() ||
      (!body_.is_touched() && http::is_worth_reading(*request_, limits_->max_drain));
  keep_alive_ = http::is_persistent({.client_wants = request_->keep_alive,
                                     .draining = connection_.is_draining(),
                                     .request_will_be_read = will_be_read});
  status_ = answer.status;
  Context& context = connection_.context;
  append_own_answer(scratch(), answer, hop(answer.limit_fields),
                    context.date.at(context.pass_clock.now()), !asks_for_head());
  error_code ec;
  if (send(ec)) ec = co_await flush();
  if (ec) keep_alive_ = false;
}

/// A client of HTTP/1.0 does not expect interim responses (RFC 9110 section 15.2).
loop::Task<error_code> Http1Responder::interim(const http::ResponseHead& head) {
  if (request_->view.version_minor == 0) co_return error_code{};
  http::append_interim_head(scratch(), head);
  co_return co_await send_scratch();
}

void Http1Responder::begin(const ForwardedAnswer& answer) {
  const auto kind = answer.head.body.kind;
  keep_alive_ = http::is_persistent({.client_wants = request_->keep_alive,
                                     .draining = connection_.is_draining(),
                                     .request_will_be_read = body_.has_ended()}) &&
                !http::ends_with_connection(request_->view.version_minor, kind);
  status_ = answer.head.line.status;
  const http::ClientHop client = hop(answer.limit_fields);
  is_chunked_ = http::is_chunked_for(client, kind);
  http::append_response_head(scratch(), answer.head, client, answer.date);
}

/// Cleared at the start of each response, because other connections have used it since.
std::string& Http1Responder::scratch() {
  connection_.context.output.clear();
  is_building_ = true;
  return connection_.context.output;
}

bool Http1Responder::append(std::string_view piece) {
  if (!is_chunked_ && piece.size() > gather_limit) return false;
  std::string& out = is_building_ ? connection_.context.output : scratch();
  is_chunked_ ? http::append_chunk(out, piece) : void(out.append(piece));
  return true;
}

void Http1Responder::end(const http::FieldSection& trailers) {
  if (!is_chunked_) return;
  http::append_last_chunk(is_building_ ? connection_.context.output : scratch(), trailers);
}

bool Http1Responder::send(error_code& ec) {
  ec = {};
  has_begun_ = true;
  if (!is_building_) return false;
  is_building_ = false;
  bytes_sent_ += connection_.context.output.size();
  connection_.stream.try_write(connection_.context.output, ec);
  return connection_.stream.has_unsent();
}

loop::Task<error_code> Http1Responder::flush() {
  connection_.watchdog.arm(Phase::body, limits_->body_timeout);
  return connection_.stream.flush();
}

loop::Task<error_code> Http1Responder::send_from_place(std::string_view piece) {
  bytes_sent_ += piece.size();
  connection_.watchdog.arm(Phase::body, limits_->body_timeout);
  return connection_.stream.write(piece);
}

/// Sends an interim head, or the head of a tunnel.
loop::Task<error_code> Http1Responder::send_scratch() {
  is_building_ = false;
  error_code ec;
  bytes_sent_ += connection_.context.output.size();
  connection_.stream.try_write(connection_.context.output, ec);
  if (connection_.stream.has_unsent()) ec = co_await flush();
  co_return ec;
}

void Http1Responder::reset() {
  keep_alive_ = false;
  connection_.stream.reset();
}

loop::Task<error_code> Http1Responder::switch_protocols(const ForwardedAnswer& answer) {
  keep_alive_ = false;
  has_begun_ = true;
  status_ = answer.head.line.status;
  http::append_switching_head(scratch(), answer.head, hop(answer.limit_fields));
  return send_scratch();
}

loop::Task<bool> Http1Responder::tunnel(TunnelEnd upstream) {
  // A buffer of its own: the log line still views the head in that of the connection.
  auto input = loop::InputBuffer::without_memory(tunnel_input);
  if (!connection_.input.empty()) input.append(connection_.input.data());
  connection_.input.consume(connection_.input.data().size());
  connection_.watchdog.begin(Phase::tunnel);
  Tunnel tunnel(connection_.context.io, connection_.context.tunnel_scratch(),
                {.stream = connection_.stream, .input = input, .carried = body_.received_counter()},
                {.stream = upstream.stream, .input = upstream.input, .carried = bytes_sent_},
                {.wheel = connection_.context.wheel,
                 .deadline = connection_.watchdog,
                 .ticks = loop::ticks_in(upstream.idle_timeout)});
  const bool ended_in_order = co_await tunnel.run();
  const bool was_idle = connection_.watchdog.timed_out() && !tunnel.has_lost_bytes();
  if (ended_in_order || was_idle) co_return true;
  reset();  // the client must be able to detect the cut
  co_return false;
}

}  // namespace weir::proxy
