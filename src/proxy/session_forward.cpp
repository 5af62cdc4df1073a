// Forwarding: one attempt on one upstream connection, the request going up while the answer comes
// down.
#include <optional>

#include "http/forwarding.hpp"
#include "proxy/head_parser.hpp"
#include "proxy/session.hpp"
#include "proxy/trailers.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t most_response_head = 64 * 1024;
/// Up to this much is gathered into one send; larger pieces go out from where they lie.
constexpr std::size_t gather_limit = 16 * 1024;

/// What nginx logs when the client left before it was answered; nobody receives it.
constexpr int client_closed_request = 499;
constexpr int switching_protocols = 101;

constexpr http::Refusal loop_detected{508, "the request has been here before"};

/// RFC 9110 section 9.2.2.
bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
         method == "DELETE";
}

void append_chunk(std::string& out, std::string_view payload) {
  http::append_chunk_header(out, payload.size());
  out.append(payload).append("\r\n");
}

void append_last_chunk(std::string& out, std::string_view trailer_lines) {
  out.append(http::last_chunk).append(trailer_lines).append("\r\n");
}

}  // namespace

/// The request body on its way up, when it has not arrived whole with its head.
struct Session::Upload {
  BodySource source;
  bool chunk;
  Trailers trailers{};
  bool finished = true;
  bool sent_whole = false;          ///< the upstream connection stands at the end of the request
  bool unwanted = false;            ///< the answer is complete: stop where you are
  bool waits_for_upstream = false;  ///< which takes no more
  Failure failure = Failure::none;
  std::optional<Timer> done;
};

Task<> Session::forward() {
  const auto left = http::max_forwards(exchange_->request);
  if (!left) co_return co_await answer(left.error());
  if (*left == std::uint64_t{0}) co_return co_await send_answer(204, "", allow_line, "");
  if (http::has_passed(exchange_->fields, via_name())) co_return co_await answer(loop_detected);
  UpstreamPool& pool = *context_.pools[*exchange_->route->upstream];
  exchange_->upstream = &pool.settings();
  exchange_->forwarded_at =
      exchange_->delay > Duration{0} ? context_.clock.now() : exchange_->decided_at;
  ServerSet tried;
  const InputBuffer::Mark before_body = input_.mark();
  const bool has_no_body = exchange_->body_is_read;
  Failure failure = Failure::none;
  // One idle connection that was closed is no reason to trust the next.
  bool may_reuse = true;
  for (int attempts = 0; attempts <= pool.settings().retries; ++attempts) {
    UpstreamServer* const server = pool.choose(context_.wheel.now(), tried);
    if (server == nullptr) {
      if (attempts == 0) failure = Failure::upstream_unhealthy;
      break;
    }
    failure = co_await attempt(pool, *server, may_reuse);
    const bool reused = upstream_ && upstream_->reused;
    upstream_.reset();
    if (failure == Failure::none) break;
    tried.set(server->index());
    if (is_servers_fault(failure, reused)) server->failed(context_.wheel.now());
    if (!may_repeat(failure, reused, pool.has_another(tried))) break;
    may_reuse = !reused;
    timed_out_ = false;
    input_.rewind(before_body);
    exchange_->bytes_in = 0;
    exchange_->body_is_read = has_no_body;
  }
  count_upstream(failure);
  if (failure == Failure::none) co_return;
  if (failure == Failure::downstream_gone && exchange_->status == 0)
    exchange_->status = client_closed_request;
  const bool body_was_touched = exchange_->bytes_in > 0 || body_input_;
  if (body_was_touched && !exchange_->body_is_read) exchange_->keep_alive = false;
  if (!exchange_->head_is_sent) co_return co_await answer(answer_to(failure));
  exchange_->keep_alive = false;
  stream_.reset();  // a cut answer must not look complete (RFC 9112 section 8)
}

/// What counts towards leaving the server out. An answer that is wrong does not: the server is
/// there and serves others. Neither does a connection that was idle, which a server may close at
/// any time.
bool Session::is_servers_fault(Failure failure, bool reused) const {
  if (exchange_->was_answered) return false;
  return failure == Failure::upstream_unreachable || failure == Failure::upstream_connect_timeout ||
         failure == Failure::upstream_timed_out || (failure == Failure::upstream_broken && !reused);
}

/// Only where nothing can have been processed, or the method is idempotent and nothing was answered
/// (RFC 9110 section 9.2.2). A server that took a request and ended without a word gets it again
/// only if its connection had been idle; nobody waits for the same server twice; and a body goes up
/// again if it had arrived whole with its head.
bool Session::may_repeat(Failure failure, bool reused, bool has_another) const {
  if (aborted_ || client_left_ || exchange_->head_is_sent || exchange_->was_answered) return false;
  if (failure == Failure::upstream_unreachable) return true;
  if (failure == Failure::upstream_connect_timeout) return has_another;
  const bool is_still_here = exchange_->body_is_read && !body_input_;
  return failure == Failure::upstream_broken && (reused || has_another) && is_still_here &&
         is_idempotent(exchange_->request.method);
}

Task<Failure> Session::attempt(UpstreamPool& pool, UpstreamServer& server, bool may_reuse) {
  const UnderWay under_way(pool.shares(), server);
  exchange_->server = &server.settings();
  if (may_reuse) upstream_ = server.take_idle();
  if (!upstream_) {
    if (const Failure failure = co_await connect(server); failure != Failure::none)
      co_return failure;
  }
  Upload upload{.source = BodySource(stream_, input_, exchange_->body),
                .chunk = exchange_->body.kind == http::Framing::Kind::chunked,
                .done = {}};
  Failure failure = append_request(upload);
  if (failure == Failure::none) {
    error_code ec;
    upstream_->stream.try_write(context_.output, ec);
    if (upstream_->stream.has_unsent()) ec = co_await flush(upstream_->stream);
    if (ec) co_return timed_out_ ? Failure::upstream_timed_out : Failure::upstream_broken;
    if (!upload.sent_whole) start_upload(upload);
    failure = co_await read_response(upload);
  }
  if (!upload.finished) co_await finish_upload(upload);
  if (failure == Failure::none && upstream_->reusable && upload.sent_whole) {
    server.give_back(std::move(upstream_), context_.wheel.now());
  }
  co_return failure;
}

Task<Failure> Session::connect(UpstreamServer& server) {
  upstream_ = server.make();
  const Duration timeout = exchange_->upstream->connect_timeout;
  arm(Phase::connect, timeout);
  error_code ec = co_await server.resolve(context_.wheel.now(), timeout);
  if (aborted_) co_return Failure::downstream_gone;
  if (!ec && !timed_out_) ec = co_await server.connect(*upstream_);
  if (ec && !upstream_->stream.trouble().empty()) {
    context_.warn("upstream " + exchange_->upstream->name + ": TLS to " +
                  exchange_->server->authority() + ": " + std::string(upstream_->stream.trouble()));
  }
  if (timed_out_ || ec == asio::error::timed_out) co_return Failure::upstream_connect_timeout;
  if (ec == asio::error::no_descriptors) co_return Failure::overloaded;
  co_return ec ? Failure::upstream_unreachable : Failure::none;
}

/// The head and what has arrived of the body leave in one piece.
Failure Session::append_request(Upload& upload) {
  std::string& out = context_.output;
  out.clear();
  if (upload.chunk) {
    upload.trailers.open({.head = exchange_->fields,
                          .connection = exchange_->connection,
                          .guarded = context_.guarded_fields});
    upload.source.keep_trailers(upload.trailers);
  }
  append_request_head(out, *exchange_,
                      {.peer = peer_,
                       .peer_is_trusted = peer_is_trusted_,
                       .guarded = context_.guarded_fields,
                       .trailer = upload.trailers.announced()});
  auto state = BodySource::State::ended;
  if (!exchange_->body_is_read) {
    std::string_view piece;
    while ((state = upload.source.pull(piece)) == BodySource::State::payload) {
      exchange_->bytes_in += piece.size();
      upload.chunk ? append_chunk(out, piece) : void(out.append(piece));
    }
    if (state == BodySource::State::malformed) return Failure::body_malformed;
    if (is_too_large(exchange_->bytes_in)) return Failure::body_too_large;
  }
  upload.sent_whole = state == BodySource::State::ended;
  if (upload.sent_whole) {
    exchange_->body_is_read = true;
    if (upload.chunk) append_last_chunk(out, upload.source.trailer_lines());
  }
  return Failure::none;
}

/// The rest of the body goes up beside the answer.
void Session::start_upload(Upload& upload) {
  upload.finished = false;
  upload.done.emplace(context_.io.get_executor(), Timer::time_point::max());
  body_input_ = std::make_unique<InputBuffer>(gather_limit);
  upload.source.continue_in(*body_input_);
  spawn(context_.io, upload_body(upload));
}

bool Session::is_too_large(std::uint64_t body_size) const {
  const auto limit = context_.config.downstream.max_body;
  return limit != 0 && body_size > limit;
}

Task<> Session::upload_body(Upload& upload) {
  const auto& limits = context_.config.downstream;
  std::string_view piece;
  error_code ec;
  while (!upload.sent_whole && !upload.unwanted && upload.failure == Failure::none && !ec) {
    std::string& out = context_.output;
    out.clear();
    auto state = BodySource::State::payload;
    while (out.size() < gather_limit * 4 &&
           (state = upload.source.pull(piece)) == BodySource::State::payload) {
      exchange_->bytes_in += piece.size();
      upload.chunk ? append_chunk(out, piece) : void(out.append(piece));
    }
    exchange_->body_is_read = state == BodySource::State::ended;
    if (exchange_->body_is_read && upload.chunk)
      append_last_chunk(out, upload.source.trailer_lines());
    if (state == BodySource::State::malformed) upload.failure = Failure::body_malformed;
    if (is_too_large(exchange_->bytes_in)) upload.failure = Failure::body_too_large;
    if (upload.failure != Failure::none) break;
    arm(Phase::body, limits.body_timeout);
    // An upstream that takes no more may have answered already: reading its answer decides.
    upload.waits_for_upstream = true;
    upstream_->stream.try_write(out, ec);
    if (upstream_->stream.has_unsent()) ec = co_await flush(upstream_->stream);
    upload.waits_for_upstream = false;
    upload.sent_whole = state == BodySource::State::ended && !ec;
    if (state != BodySource::State::exhausted || ec || upload.unwanted) continue;
    if (co_await upload.source.fill()) {
      upload.failure = timed_out_ ? Failure::body_timed_out : Failure::downstream_gone;
    }
  }
  if (upload.failure != Failure::none) upstream_->stream.cancel();
  if (upload.sent_whole && !exchange_->head_is_sent)
    arm(Phase::response, exchange_->upstream->response_timeout);
  upload.finished = true;
  upload.done->cancel();
}

/// The answer is complete, or there will be none: what is left of the request is of no use.
Task<> Session::finish_upload(Upload& upload) {
  error_code ec;
  exchange_->keep_alive = false;
  upload.unwanted = true;
  stream_.cancel();
  upstream_->stream.cancel();
  while (!upload.finished)
    co_await upload.done->async_wait(into(ec));
}

Task<Failure> Session::read_response(Upload& upload) {
  auto& upstream = *upstream_;
  std::size_t scanned = 0;
  error_code ec;
  if (upload.finished) arm(Phase::response, exchange_->upstream->response_timeout);
  co_await context_.turns.next();
  for (bool is_first = true;; is_first = false) {
    const HeadEnd end = find_head_end(upstream.input.data(), scanned);
    if (end.state == HeadEnd::State::malformed) co_return Failure::upstream_invalid;
    if (end.state == HeadEnd::State::incomplete) {
      if (!upstream.input.make_room(most_response_head)) co_return Failure::upstream_invalid;
      if (const Failure why = interruption(upload); why != Failure::none) co_return why;
      const auto room = asio::buffer(upstream.input.free_begin(), upstream.input.free_size());
      std::size_t n = 0;
      ec = asio::error::would_block;
      if (is_first && context_.turns.are_many()) {
        n = upstream.stream.try_read(room, ec);
        if (n < room.size()) upstream.read_dry_in = context_.turns.pass();
      }
      if (ec == asio::error::would_block)
        n = co_await upstream.stream.async_read_some(room, into(ec));
      upstream.input.commit(n);
      exchange_->was_answered |= n > 0;
      if (!ec) continue;
      const Failure why = interruption(upload);
      co_return why == Failure::none ? Failure::upstream_broken : why;
    }
    exchange_->upstream_took = context_.clock.now() - exchange_->forwarded_at;
    auto line = parse_response_head(upstream.input.data().substr(0, end.size), upstream.fields);
    if (!line && move_space_behind_colons(upstream.input.writable(end.size)))
      line = parse_response_head(upstream.input.data().substr(0, end.size), upstream.fields);
    if (!line || line->status < 100) co_return Failure::upstream_invalid;
    upstream.input.consume(end.size);  // the views hold until something is read
    const auto connection = http::connection_options(upstream.fields);
    const auto body =
        http::response_framing(exchange_->request.method, line->status,
                               static_cast<std::uint8_t>(line->version % 10), upstream.fields);
    if (!body || connection.too_many) co_return Failure::upstream_invalid;
    upstream.server.answered();
    Trailers trailers;
    if (body->kind == http::Framing::Kind::chunked && wants_trailers(exchange_->request)) {
      trailers.open({.head = upstream.fields, .connection = connection, .only_announced = false});
    }
    const ResponseHead head{.line = *line,
                            .fields = upstream.fields,
                            .connection = connection,
                            .body = *body,
                            .trailer = trailers.announced()};
    if (line->status >= 200) {
      const bool chunk = append_answer(head);
      BodySource source(upstream.stream, upstream.input, head.body);
      source.keep_trailers(trailers);
      co_return co_await relay_answer(source, chunk);
    }
    if (line->status == switching_protocols) co_return co_await open_tunnel(head);
    const Failure failure = co_await answer_interim(head);
    if (failure != Failure::none) co_return failure;
    if (upload.finished) arm(Phase::response, exchange_->upstream->response_timeout);
    scanned = 0;
  }
}

/// Why reading the answer was ended from elsewhere. Asked before each read as well: a cancellation
/// that comes while nothing is being read cancels nothing.
Failure Session::interruption(const Upload& upload) const {
  if (client_left_ || aborted_) return Failure::downstream_gone;
  if (upload.failure != Failure::none) return upload.failure;
  if (!timed_out_) return Failure::none;
  const bool upstream_stalled = upload.finished || upload.waits_for_upstream;
  return upstream_stalled ? Failure::upstream_timed_out : Failure::body_timed_out;
}

/// 100, 103 and their like; a client of HTTP/1.0 does not know them (RFC 9110 section 15.2).
Task<Failure> Session::answer_interim(const ResponseHead& head) {
  if (exchange_->request.version_minor == 0) co_return Failure::none;
  std::string& out = context_.output;
  out.clear();
  append_interim_head(out, head);
  co_return co_await send(out) ? Failure::downstream_gone : Failure::none;
}

/// Into the scratch buffer; true if the body goes out chunked.
bool Session::append_answer(const ResponseHead& head) {
  using Kind = http::Framing::Kind;
  auto& upstream = *upstream_;
  const bool ends_with_connection = head.body.kind == Kind::until_close;
  const bool has_no_length = ends_with_connection || head.body.kind == Kind::chunked;
  upstream.reusable =
      !ends_with_connection &&
      !http::wants_close(static_cast<std::uint8_t>(head.line.version % 10), head.connection);
  if (context_.draining || !exchange_->body_is_read) exchange_->keep_alive = false;
  if (has_no_length && exchange_->request.version_minor == 0) exchange_->keep_alive = false;

  exchange_->status = head.line.status;
  std::string& out = context_.output;
  out.clear();
  const bool chunk = append_response_head(
      out, head, *exchange_, context_.date.at(exchange_->forwarded_at + *exchange_->upstream_took));
  exchange_->head_is_sent = true;
  return chunk;
}

/// The scratch buffer holds the head; what has arrived of the body goes out with it.
Task<Failure> Session::relay_answer(BodySource& source, bool chunk) {
  std::string& out = context_.output;
  for (;;) {
    std::string_view piece;
    BodySource::State state;
    while ((state = source.pull(piece)) == BodySource::State::payload) {
      if (chunk) {
        append_chunk(out, piece);
      } else if (piece.size() <= gather_limit) {
        out.append(piece);
      } else {
        if (co_await send(out) || co_await send_from_place(piece))
          co_return Failure::downstream_gone;
        out.clear();
      }
    }
    if (state == BodySource::State::malformed) co_return Failure::upstream_invalid;
    if (state == BodySource::State::ended && chunk) append_last_chunk(out, source.trailer_lines());
    error_code ec;
    exchange_->bytes_out += out.size();
    stream_.try_write(out, ec);
    if (stream_.has_unsent()) ec = co_await flush(stream_);
    if (ec) co_return Failure::downstream_gone;
    if (state == BodySource::State::ended) co_return Failure::none;
    arm(Phase::body, context_.config.downstream.body_timeout);
    if (co_await source.fill())
      co_return timed_out_ ? Failure::upstream_timed_out : Failure::upstream_broken;
    out.clear();
  }
}

Task<error_code> Session::send_from_place(std::string_view data) {
  exchange_->bytes_out += data.size();
  arm(Phase::body, context_.config.downstream.body_timeout);
  co_return co_await stream_.write(data);
}

void Session::count_upstream(Failure failure) {
  UpstreamCounters& counters = context_.counters.upstreams[*exchange_->route->upstream];
  switch (failure) {
    case Failure::none:
      return counters.answered.add();
    case Failure::upstream_unreachable:
    case Failure::upstream_connect_timeout:
      return counters.connect_failed.add();
    case Failure::upstream_timed_out:
      return counters.timed_out.add();
    case Failure::upstream_broken:
    case Failure::upstream_invalid:
      return counters.broken.add();
    case Failure::upstream_unhealthy:
      return counters.unhealthy.add();
    default:
      return;  // the client's doing
  }
}

}  // namespace weir::proxy
