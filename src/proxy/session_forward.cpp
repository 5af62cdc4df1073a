// Forwarding: one attempt on one upstream connection, the request going up while the answer comes
// down.
#include "http/chunked.hpp"
#include "http/forwarding.hpp"
#include "proxy/head_inspection.hpp"
#include "proxy/retry_rule.hpp"
#include "proxy/session.hpp"
#include "proxy/ticks.hpp"
#include "proxy/upload.hpp"

namespace weir::proxy {
namespace {

/// What nginx logs when the client left before it was answered; nobody receives it.
constexpr int client_closed_request = 499;

constexpr http::Refusal loop_detected{508, "the request has been here before"};

}  // namespace

Task<> Session::forward() {
  const auto left = http::max_forwards(exchange_->request);
  if (!left) co_return co_await answer(left.error());
  if (*left == std::uint64_t{0}) co_return co_await send_answer(204, "", allow_line, "");
  if (http::has_passed(exchange_->fields, via_name())) co_return co_await answer(loop_detected);
  UpstreamPool& pool = *generation_->pools[*exchange_->route->upstream];
  exchange_->upstream = &pool.settings();
  exchange_->forwarded_at =
      exchange_->delay > Duration{0} ? context_.clock.now() : exchange_->decided_at;
  ServerSet tried;
  KeptBody kept(input_.mark());
  const bool has_no_body = exchange_->body_is_read;
  const bool keep_alive = exchange_->keep_alive;
  Failure failure = Failure::none;
  // One idle connection that was closed is no reason to trust the next.
  bool may_reuse = true;
  for (int attempts = 0; attempts <= pool.settings().retries; ++attempts) {
    const UpstreamPool::Choice choice = pool.choose(context_.wheel.now(), tried);
    UpstreamServer* const server = choice.server;
    if (server == nullptr) {
      if (attempts == 0) failure = Failure::upstream_unhealthy;
      break;
    }
    failure = co_await attempt(pool, *server, kept, may_reuse);
    const bool reused = upstream_ && upstream_->reused;
    if (failure != Failure::none) note_failure(*server, failure, reused);
    upstream_.reset();
    if (failure == Failure::none) break;
    tried.set(choice.index);
    if (!is_repeated({.failure = failure,
                      .is_idempotent = is_idempotent(exchange_->request.method),
                      .body_is_kept = kept.is_whole(),
                      .answer_has_begun = exchange_->answer_has_begun,
                      .was_idle = reused,
                      .has_another = pool.has_another(tried),
                      .retries_left = pool.settings().retries - attempts}))
      break;
    may_reuse = !reused;
    rewind(kept);
    exchange_->body_is_read = has_no_body;
    exchange_->keep_alive = keep_alive;
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
/// any time, nor one on which it waited for what the client held back.
bool Session::is_servers_fault(Failure failure, bool reused) const {
  if (exchange_->was_answered || exchange_->body_is_awaited) return false;
  return failure == Failure::upstream_unreachable || failure == Failure::upstream_connect_timeout ||
         failure == Failure::upstream_timed_out || (failure == Failure::upstream_broken && !reused);
}

/// Not only not here yet: a server that closes every connection would never be left out else. That
/// some of it came does not matter: with a byte now and then it would wait just as long.
bool Session::is_held_back(const Upload& upload) const {
  constexpr std::uint64_t patience = ticks_in(std::chrono::seconds(1));
  return !upload.finished && !upload.waits_for_upstream &&
         context_.wheel.now() - upload.began_at >= patience;
}

void Session::note_failure(UpstreamServer& server, Failure failure, bool reused) {
  const auto trouble = upstream_ ? upstream_->stream.trouble() : std::string_view{};
  if (!trouble.empty()) {
    context_.warn("upstream " + exchange_->upstream->name + ": TLS to " +
                  server.settings().authority() + ": " + std::string(trouble));
  }
  if (!is_servers_fault(failure, reused)) return;
  // Of what went wrong before it was asked the server knows more.
  if (failure == Failure::upstream_broken || failure == Failure::upstream_timed_out)
    server.note(*upstream_, answer_to(failure).detail);
  server.failed(context_.wheel.now());
}

bool Session::is_repeated(const FailedTry& failed) const {
  return !aborted_ && !client_left_ && !exchange_->head_is_sent && may_repeat(failed);
}

/// The next try sends the body from its first byte.
void Session::rewind(const KeptBody& kept) {
  kept.rewind(input_, body_input_.get());
  timed_out_ = false;
  exchange_->bytes_in = 0;
}

Task<Failure> Session::attempt(UpstreamPool& pool, UpstreamServer& server, KeptBody& kept,
                               bool may_reuse) {
  const UnderWay under_way(server);
  exchange_->server = &server.settings();
  exchange_->was_answered = exchange_->answer_has_begun = exchange_->body_is_awaited = false;
  if (may_reuse) upstream_ = server.take_idle(number_);
  if (!upstream_) {
    if (const Failure failure = co_await connect(server); failure != Failure::none)
      co_return failure;
  }
  Upload upload{.source = BodySource(stream_, input_, exchange_->body),
                .kept = kept,
                .chunk = exchange_->body.kind == http::Framing::Kind::chunked,
                .done = {}};
  Failure failure = append_request(upload);
  if (failure == Failure::none) {
    error_code ec;
    upstream_->stream.try_write(context_.output, ec);
    if (upstream_->stream.has_unsent()) ec = co_await flush(upstream_->stream);
    if (ec) co_return timed_out_ ? Failure::upstream_timed_out : Failure::upstream_broken;
    if (!upload.sent_whole) start_upload(upload);
    try {
      failure = co_await read_response(upload);
    } catch (...) {  // the upload beside it refers to this frame: it must end first
      upload.thrown = std::current_exception();
    }
  }
  exchange_->body_is_awaited = is_held_back(upload);
  if (!upload.finished) end_upload(upload);
  while (!upload.finished) {
    error_code ec;
    co_await upload.done->async_wait(into(ec));
  }
  if (upload.thrown) std::rethrow_exception(upload.thrown);
  if (failure == Failure::none && upstream_->reusable && upload.sent_whole) {
    server.give_back(std::move(upstream_), context_.wheel.now(), number_);
    has_own_upstreams_ |= pool.settings().reuse == upstream::Reuse::safe;
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
  if (timed_out_ || ec == asio::error::timed_out) co_return Failure::upstream_connect_timeout;
  if (ec == asio::error::no_descriptors) co_return Failure::overloaded;
  co_return ec ? Failure::upstream_unreachable : Failure::none;
}

/// The head and what has arrived of the body leave in one piece; on another try that includes what
/// was read during the earlier ones.
Failure Session::append_request(Upload& upload) {
  std::string& out = context_.output;
  out.clear();
  if (upload.chunk) {
    upload.trailers.open({.head = exchange_->fields,
                          .connection = exchange_->connection,
                          .guard = &generation().blueprint->field_guard});
    upload.source.keep_trailers(upload.trailers);
  }
  append_request_head(out, *exchange_,
                      {.peer = peer_,
                       .peer_is_trusted = peer_is_trusted_,
                       .guard = generation().blueprint->field_guard,
                       .trailer = upload.trailers.announced()});
  upload.sent_whole = exchange_->body_is_read;
  if (upload.sent_whole) return Failure::none;
  append_body(upload, std::string::npos);
  if (body_input_ && !exchange_->body_is_read && upload.failure == Failure::none) {
    upload.source.continue_in(*body_input_);
    append_body(upload, std::string::npos);
  }
  upload.sent_whole = exchange_->body_is_read;
  return upload.failure;
}

/// Appends the received body, as it is sent upstream, until the scratch buffer holds `most` bytes.
BodySource::State Session::append_body(Upload& upload, std::size_t most) {
  std::string& out = context_.output;
  std::string_view piece;
  auto state = BodySource::State::payload;
  while (out.size() < most && (state = upload.source.pull(piece)) == BodySource::State::payload) {
    exchange_->bytes_in += piece.size();
    upload.chunk ? http::append_chunk(out, piece) : void(out.append(piece));
  }
  exchange_->body_is_read = state == BodySource::State::ended;
  if (exchange_->body_is_read && upload.chunk)
    http::append_last_chunk(out, upload.source.trailer_lines());
  if (state == BodySource::State::malformed) upload.failure = Failure::body_malformed;
  if (is_too_large(settings().downstream, exchange_->bytes_in))
    upload.failure = Failure::body_too_large;
  return state;
}

/// The rest of the body goes up beside the answer.
void Session::start_upload(Upload& upload) {
  upload.finished = false;
  upload.began_at = context_.wheel.now();
  upload.done.emplace(context_.io.get_executor(), Timer::time_point::max());
  if (!body_input_) {
    body_input_ = context_.take_body_buffer();
    const std::size_t moved = upload.source.continue_in(*body_input_);
    upload.kept.continue_in_buffer(moved, keeps_up_to());
  }
  upload.source.keep(upload.kept);
  spawn(context_.io, upload_body(upload));
}

/// Bytes of the body worth keeping for another try; 0: there will be none.
std::size_t Session::keeps_up_to() const {
  const upstream::Upstream& settings = *exchange_->upstream;
  if (settings.retries == 0 || !is_idempotent(exchange_->request.method)) return 0;
  const bool is_larger = exchange_->body.kind == http::Framing::Kind::length &&
                         exchange_->body.length > settings.retry_body;
  return is_larger ? 0 : settings.retry_body;
}

/// The task beside the answer.
Task<> Session::upload_body(Upload& upload) {
  try {
    co_await upload_rest(upload);
  } catch (...) {
    upload.thrown = std::current_exception();
    upload.failure = Failure::downstream_gone;  // no answer: the connection is given up
    upstream_->stream.close();
  }
  if (upload.failure != Failure::none) upstream_->stream.cancel();
  upload.finished = true;
  upload.done->cancel();
}

Task<> Session::upload_rest(Upload& upload) {
  error_code ec;
  while (!upload.sent_whole && !upload.unwanted && upload.failure == Failure::none && !ec) {
    context_.output.clear();
    const BodySource::State state = append_body(upload, gather_limit * 4);
    if (upload.failure != Failure::none) break;
    arm(Phase::body, settings().downstream.body_timeout);
    // An upstream that takes no more may have answered already: reading its answer decides.
    upload.waits_for_upstream = true;
    upstream_->stream.try_write(context_.output, ec);
    if (upstream_->stream.has_unsent()) ec = co_await flush(upstream_->stream);
    upload.waits_for_upstream = false;
    upload.sent_whole = state == BodySource::State::ended && !ec;
    if (state != BodySource::State::exhausted || ec || upload.unwanted) continue;
    // Ended by end_upload(), the client may still be sending: another try reads on.
    if (co_await upload.source.fill() && !upload.unwanted) {
      upload.failure = timed_out_ ? Failure::body_timed_out : Failure::downstream_gone;
    }
  }
  if (upload.sent_whole) {
    exchange_->head_is_sent ? arm(Phase::relay, settings().downstream.body_timeout)
                            : arm(Phase::response, exchange_->upstream->response_timeout);
  }
}

/// The answer is complete, or there will be none: what is left of the request is of no use.
void Session::end_upload(Upload& upload) {
  exchange_->keep_alive = false;
  upload.unwanted = true;
  stream_.cancel();
  upstream_->stream.cancel();
}

void Session::count_upstream(Failure failure) {
  UpstreamCounters& counters = *generation().counters->upstreams[*exchange_->route->upstream];
  switch (failure) {
    case Failure::none:
      return counters.answered.add();
    case Failure::upstream_unreachable:
    case Failure::upstream_connect_timeout:
      return counters.connect_failed.add();
    case Failure::upstream_timed_out:
      return counters.timed_out.add();
    case Failure::upstream_invalid:
      context_.warn("upstream " + exchange_->upstream->name + ": " +
                    exchange_->server->authority() + " sent an answer that is not valid HTTP/1.1");
      [[fallthrough]];
    case Failure::upstream_broken:
      return counters.broken.add();
    case Failure::upstream_unhealthy:
      return counters.unhealthy.add();
    default:  // the client's doing
      if (exchange_->head_is_sent) counters.answered.add();
  }
}

}  // namespace weir::proxy
