#include "proxy/http1_connection.hpp"

#include <algorithm>
#include <utility>

#include "decision/head_inspection.hpp"
#include "http/head_parser.hpp"

namespace weir::proxy {
namespace {

constexpr unsigned most_empty_lines = 16;  ///< before a request
constexpr Duration drain_grace = std::chrono::seconds(1);

}  // namespace

void Http1Connection::release() {
  if (current_) context().give_back(std::move(current_));
  client_.input.consume(client_.input.data().size());
  release_input();
}

loop::Task<Http1Connection::End> Http1Connection::run(bool may_be_http2) {
  for (;;) {
    if (const Failure failure = co_await read_head(); failure != Failure::none) {
      if (answer_to(failure).status == 0) co_return End::closed;
      co_await exchange().refuse(answer_to(failure));
    } else if (may_be_http2 && begins_http2()) {
      context().give_back(std::move(current_));
      co_return End::http2;
    } else if (const auto refusal = inspect_head()) {
      co_await exchange().refuse(*refusal);
    } else {
      co_await exchange().serve();
    }
    finish();
    // An abort may have closed the stream: the part of the next request that has arrived is not
    // served.
    if (!responder().keeps_connection() || !client_.stream.is_open()) break;
    const options::Downstream& limits = exchange().options().downstream;
    if (body().has_rest() && !co_await body().discard(limits.max_drain, limits.body_timeout)) break;
  }
  co_await linger();
  co_return End::closed;
}

loop::Task<> Http1Connection::turn_away() {
  begin_exchange();
  co_await exchange().refuse(answer_to(Failure::overloaded));
  finish();
  co_await linger();
}

loop::Task<> Http1Connection::refuse_plain() {
  if (co_await read_head() != Failure::none) co_return;
  http::ReceivedRequest& request = exchange().request();
  const auto line =
      http::parse_request_head(client_.input.data().substr(0, head_size_), request.fields);
  if (!line) co_return;
  request.view.method = line->method;
  request.view.version_minor = static_cast<std::uint8_t>(line->version % 10);
  request.view.fields = request.fields;
  context().warn("a client sent plain HTTP to a port that expects TLS and was answered 400",
                 "plain HTTP");
  co_await exchange().refuse(answer_to(Failure::plain_on_tls));
  finish();
  co_await linger();
}

/// True for the start of the preface of HTTP/2, which looks like a head (RFC 9113 section 3.4).
bool Http1Connection::begins_http2() const {
  constexpr std::string_view start = "PRI * HTTP/2.0\r\n\r\n";
  return head_size_ == start.size() && !has_served_ && client_.input.data().starts_with(start);
}

loop::Task<Failure> Http1Connection::read_head() {
  std::size_t scanned = 0;
  error_code ec;
  head_size_ = 0;
  empty_lines_ = 0;
  loop::InputBuffer& input = client_.input;
  loop::Stream& stream = client_.stream;
  Watchdog& watchdog = client_.watchdog;
  bool has_read_late = false;
  const bool has_served = current_ != nullptr;
  if (has_served) context().give_back(std::move(current_));
  watchdog.arm(Phase::idle, context().generation->options.downstream.idle_timeout);
  if (client_.is_draining()) drain();
  if (input.empty()) {
    release_input();
    // A client that sends without a pause must not keep the loop.
    if (has_served && stream.socket().is_ready(loop::Direction::read))
      co_await context().turns.next();
  }
  for (;;) {
    if (const Failure failure = look_for_head(scanned); failure != Failure::none) co_return failure;
    if (head_size_ != 0) co_return Failure::none;
    // Checked before each wait as well, because a deadline without a read in progress has no
    // effect.
    if (watchdog.aborted() || (watchdog.timed_out() && (has_read_late || !idle_timed_out())))
      co_return why_no_head();
    // TLS may hold bytes that are not visible on the socket.
    const bool is_idle = input.empty() && !stream.is_secure();
    if (is_idle) co_await stream.socket().wait(loop::Direction::read, ec);
    if (ec) {
      if (has_read_late || !idle_timed_out()) co_return why_no_head();
      has_read_late = true;
      stream.socket().look_again();
    }
    if (!input.has_memory()) input.adopt(context().take_head_buffer());
    const auto room = asio::buffer(input.free_begin(), input.free_size());
    std::size_t n = is_idle ? stream.try_read(room, ec) : co_await stream.read(room, ec);
    if (ec == asio::error::operation_aborted && !has_read_late && idle_timed_out()) {
      has_read_late = true;
      n = stream.try_read(room, ec);
    }
    if (is_idle && ec == asio::error::would_block) {
      release_input();
      continue;
    }
    if (ec || n == 0) co_return why_no_head();
    input.commit(n);
  }
}

/// The deadline of an idle connection has passed. If the loop was delayed, a request may have
/// arrived before the deadline, so the connection is read once more before it is closed.
bool Http1Connection::idle_timed_out() const {
  const Watchdog& watchdog = client_.watchdog;
  return watchdog.timed_out() && watchdog.phase() == Phase::idle && !watchdog.aborted();
}

Failure Http1Connection::why_no_head() const {
  const Watchdog& watchdog = client_.watchdog;
  const bool head_timed_out =
      watchdog.timed_out() && watchdog.phase() == Phase::head && !watchdog.aborted();
  return head_timed_out ? Failure::head_timed_out : Failure::downstream_gone;
}

/// An idle connection keeps no buffer, unless the heads of its requests were large.
void Http1Connection::release_input() {
  context().give_back_head_buffer(client_.input.release());
}

/// Sets head_size_ if a whole head has arrived; otherwise makes room for more.
Failure Http1Connection::look_for_head(std::size_t& scanned) {
  const auto& limits = context().generation->options.downstream;
  loop::InputBuffer& input = client_.input;
  // RFC 9112 section 2.2: empty lines before a request line are ignored.
  while (scanned == 0 && input.data().starts_with("\r\n")) {
    input.consume(2);
    if (++empty_lines_ <= most_empty_lines) continue;
    if (!current_) begin_exchange();
    return Failure::head_malformed;
  }
  if (input.empty()) return Failure::none;
  if (input.data() == "\r") {
    input.make_room(limits.max_head);
    return Failure::none;
  }
  if (!current_) {
    begin_exchange();
    client_.watchdog.arm(Phase::head, limits.head_timeout);
  }
  const http::HeadEnd end = http::find_head_end(input.data(), scanned);
  if (end.state == http::HeadEnd::State::malformed) return Failure::head_malformed;
  if (end.state == http::HeadEnd::State::complete && end.size <= limits.max_head) {
    head_size_ = end.size;
    return Failure::none;
  }
  if (end.state == http::HeadEnd::State::incomplete && input.make_room(limits.max_head))
    return Failure::none;
  return failure_of(http::fault_of_large_head(input.data().substr(0, limits.max_head)));
}

/// An idle connection has no exchange.
void Http1Connection::begin_exchange() {
  current_ = context().take_exchange();
  current_->take(client_);
  exchange().begin({.watchdog = &client_.watchdog,
                    .body = &body(),
                    .responder = &responder(),
                    .number = client_.number,
                    .serves = client_.listener.serves});
  http::ReceivedRequest& request = exchange().request();
  client_.set_peer(request);
  body().begin(request);
  responder().begin_request(request, exchange().options());
}

/// A head that cannot be parsed stays in the input; the connection is closed after the response.
std::optional<http::Refusal> Http1Connection::inspect_head() {
  http::ReceivedRequest& request = exchange().request();
  request.scheme = client_.stream.is_secure() ? "https" : "http";
  const auto refusal = decision::inspect_head(*exchange().generation().request_rules,
                                              client_.input.data().substr(0, head_size_), request);
  if (request.view.method.empty()) return refusal;
  client_.input.consume(head_size_);  // the views are valid until the next read
  body().begin(request);
  return refusal;
}

void Http1Connection::finish() {
  has_served_ = true;
  exchange().finish();
  has_own_upstreams_ |= exchange().has_own_upstreams();
}

void Http1Connection::look_after_client() {
  const Phase phase = client_.watchdog.phase();
  const bool waits_for_upstream = phase == Phase::response || phase == Phase::relay;
  if ((waits_for_upstream && client_.stream.has_ended()) ||
      (phase == Phase::delay && body().client_has_left()))
    client_.watchdog.client_left();
}

void Http1Connection::drain() {
  Watchdog& watchdog = client_.watchdog;
  if (watchdog.phase() == Phase::idle) watchdog.arm(Phase::idle, drain_grace);
}

loop::Task<> Http1Connection::linger() {
  const loop::Stream& stream = client_.stream;
  if (client_.watchdog.aborted() || !stream.is_open()) co_return;
  const http::ReceivedRequest& request = exchange().request();
  // A client that sent `Connection: close` sends nothing after this request (RFC 9112 section 9.6),
  // except that some send an empty line after a body (section 2.2).
  const bool is_last = request.is_framed && request.framing.kind == http::Framing::Kind::none &&
                       http::wants_close(request.view.version_minor, request.connection);
  const bool is_read =
      body().has_ended() && client_.input.empty() && (is_last || !client_.stream.has_unread());
  if (is_read && !stream.is_secure()) co_return;
  release();  // a client that sends without end may stay for some time
  co_await drop_rest(client_, is_read ? Rest::none : Rest::usual);
}

}  // namespace weir::proxy
