// The upstream's answer: its head, what becomes of it, and its body on the way down.
#include "http/chunked.hpp"
#include "proxy/head_parser.hpp"
#include "proxy/session.hpp"
#include "proxy/trailers.hpp"
#include "proxy/upload.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t most_response_head = 64 * 1024;
constexpr int switching_protocols = 101;

/// What speaks another protocol is told by its first bytes, whether or not it ends a line.
bool may_be_http(std::string_view data) {
  constexpr std::string_view start = "HTTP/1.";
  return start.starts_with(data.substr(0, start.size()));
}

}  // namespace

/// The head of an answer, and what follows from it.
struct Session::Answer {
  StatusLine line{};
  http::ConnectionOptions connection{};
  http::Framing body{};
  Trailers trailers{};

  ResponseHead head(std::span<const http::FieldView> fields) const {
    return {.line = line,
            .fields = fields,
            .connection = connection,
            .body = body,
            .trailer = trailers.announced()};
  }
};

Task<Failure> Session::read_response(Upload& upload) {
  auto& upstream = *upstream_;
  if (upload.finished) arm(Phase::response, exchange_->upstream->response_timeout);
  co_await context_.turns.next();
  for (;;) {
    std::size_t head_size = 0;
    Failure failure = co_await read_response_head(upload, head_size);
    if (failure != Failure::none) co_return failure;
    Answer answer;
    failure = take_response_head(head_size, answer);
    if (failure != Failure::none) co_return failure;
    const ResponseHead head = answer.head(upstream.fields);
    if (answer.line.status >= 200) {
      const bool chunk = append_answer(head);
      BodySource source(upstream.stream, upstream.input, answer.body);
      source.keep_trailers(answer.trailers);
      co_return co_await relay_answer(source, chunk, upload);
    }
    if (answer.line.status == switching_protocols) co_return co_await open_tunnel(head);
    failure = co_await answer_interim(head);
    if (failure != Failure::none) co_return failure;
    exchange_->answer_has_begun = !upstream.input.empty();
    // The time for the answer goes on: an upstream could say 103 for ever.
    if (upload.finished && phase_ != Phase::response)
      arm(Phase::response, exchange_->upstream->response_timeout);
  }
}

/// Until one has arrived whole, at the front of the upstream's buffer.
Task<Failure> Session::read_response_head(Upload& upload, std::size_t& size) {
  auto& upstream = *upstream_;
  std::size_t scanned = 0;
  for (bool is_first = true;; is_first = false) {
    const HeadEnd end = find_head_end(upstream.input.data(), scanned);
    size = end.size;
    if (end.state == HeadEnd::State::complete) co_return Failure::none;
    if (end.state == HeadEnd::State::malformed || !may_be_http(upstream.input.data()) ||
        !upstream.input.make_room(most_response_head))
      co_return Failure::upstream_invalid;
    if (const Failure why = interruption(upload); why != Failure::none) co_return why;
    const auto room = asio::buffer(upstream.input.free_begin(), upstream.input.free_size());
    error_code ec;
    const bool is_probably_there = is_first && context_.turns.are_many();
    const std::size_t n = co_await upstream.stream.read(room, ec, is_probably_there);
    upstream.input.commit(n);
    exchange_->was_answered |= n > 0;
    exchange_->answer_has_begun |= n > 0;
    if (!ec) continue;
    const Failure why = interruption(upload);
    co_return why == Failure::none ? Failure::upstream_broken : why;
  }
}

Failure Session::take_response_head(std::size_t size, Answer& answer) {
  auto& upstream = *upstream_;
  exchange_->upstream_took = context_.clock.now() - exchange_->forwarded_at;
  auto line = parse_response_head(upstream.input.data().substr(0, size), upstream.fields);
  if (!line && move_space_behind_colons(upstream.input.writable(size)))
    line = parse_response_head(upstream.input.data().substr(0, size), upstream.fields);
  // RFC 9110 section 15: other numbers are no status codes.
  if (!line || line->status < 100 || line->status > 599) return Failure::upstream_invalid;
  upstream.input.consume(size);  // the views hold until something is read
  answer.line = *line;
  answer.connection = http::connection_options(upstream.fields);
  const auto body =
      http::response_framing(exchange_->request.method, line->status,
                             static_cast<std::uint8_t>(line->version % 10), upstream.fields);
  if (!body || answer.connection.too_many) return Failure::upstream_invalid;
  answer.body = *body;
  upstream.server.answered();
  if (body->kind == http::Framing::Kind::chunked && wants_trailers(exchange_->request)) {
    answer.trailers.open(
        {.head = upstream.fields, .connection = answer.connection, .only_announced = false});
  }
  return Failure::none;
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
  if (is_draining() || !exchange_->body_is_read) exchange_->keep_alive = false;
  if (has_no_length && exchange_->request.version_minor == 0) exchange_->keep_alive = false;

  exchange_->status = head.line.status;
  std::string& out = context_.output;
  out.clear();
  const bool chunk = append_response_head(
      out, head, *exchange_, context_.date.at(exchange_->forwarded_at + *exchange_->upstream_took));
  exchange_->head_is_sent = true;
  return chunk;
}

/// Into the scratch buffer, up to a piece that is too large for it: that goes out from its place.
BodySource::State Session::gather_answer(BodySource& source, bool chunk, std::string_view& large) {
  std::string& out = context_.output;
  std::string_view piece;
  auto state = BodySource::State::payload;
  while ((state = source.pull(piece)) == BodySource::State::payload) {
    if (chunk) {
      http::append_chunk(out, piece);
    } else if (piece.size() <= gather_limit) {
      out.append(piece);
    } else {
      large = piece;
      break;
    }
  }
  if (state == BodySource::State::ended && chunk)
    http::append_last_chunk(out, source.trailer_lines());
  return state;
}

/// The scratch buffer holds the head; what has arrived of the body goes out with it.
Task<Failure> Session::relay_answer(BodySource& source, bool chunk, const Upload& upload) {
  std::string& out = context_.output;
  for (bool is_first = true;; is_first = false) {
    std::string_view large;
    const BodySource::State state = gather_answer(source, chunk, large);
    if (state == BodySource::State::malformed) {
      exchange_->head_is_sent &= !is_first;
      co_return Failure::upstream_invalid;
    }
    error_code ec;
    exchange_->bytes_out += out.size();
    stream_.try_write(out, ec);
    if (stream_.has_unsent()) ec = co_await flush(stream_);
    if (!ec && !large.empty()) ec = co_await send_from_place(large);
    if (ec) co_return Failure::downstream_gone;
    if (state == BodySource::State::ended) co_return Failure::none;
    out.clear();
    if (!large.empty()) continue;
    if (upload.failure != Failure::none) co_return upload.failure;
    // An upload reads from the client, and sees its end by itself.
    arm(upload.finished ? Phase::relay : Phase::body, settings().downstream.body_timeout);
    if (co_await source.fill()) {
      const Failure why = interruption(upload);
      co_return why == Failure::none ? Failure::upstream_broken : why;
    }
    out.clear();
  }
}

Task<error_code> Session::send_from_place(std::string_view data) {
  exchange_->bytes_out += data.size();
  arm(Phase::body, settings().downstream.body_timeout);
  co_return co_await stream_.write(data);
}

}  // namespace weir::proxy
