#include "proxy/attempt.hpp"

#include <string>
#include <utility>

#include "http/trailers.hpp"
#include "http/upgrade.hpp"
#include "proxy/context.hpp"
#include "proxy/websocket_key.hpp"

namespace weir::proxy {
namespace {

constexpr int switching_protocols = 101;

/// Waits for a connection that is being opened.
struct OpeningWait final : loop::Cancellable {
  explicit OpeningWait(asio::io_context& io) : event(io) {}
  void cancel() override { event.cancel(); }
  void close() override { event.cancel(); }
  loop::Event event;
};

}  // namespace

/// The head of a response, and the properties that follow from it.
struct Attempt::Response {
  UpstreamStream::Head received{};
  http::Trailers trailers{};
  bool relays_trailers = false;

  http::ResponseHead head(const http::FieldEdits* edits) const {
    return {.line = received.line,
            .fields = received.fields,
            .connection = received.connection,
            .body = received.body,
            .trailer = relays_trailers ? trailers.announced() : std::string_view{},
            .edits = edits};
  }
};

Attempt::Attempt(const ForwardPhase& phase, upstream::PooledServer& server)
    : phase_(phase),
      watchdog_(*phase.client.watchdog),
      responder_(*phase.client.responder),
      server_(server),
      upload_(phase) {}

Attempt::~Attempt() {
  watchdog_.watch(nullptr);
}

loop::Task<Failure> Attempt::run(bool may_reuse) {
  const upstream::UnderWay under_way(server_);
  phase_.record.server = &server_.settings();
  phase_.record.server_authority = server_.authority();
  if (!take_open_connection(may_reuse)) {
    if (const Failure failure = co_await connect(); failure != Failure::none) co_return failure;
  }
  if (http2_ && phase_.request.demands_tunnel()) co_return Failure::tunnel_unsupported;
  Failure failure = build_request();
  if (failure == Failure::none) {
    error_code ec;
    if (stream_->send(ec)) ec = co_await flush();
    if (ec) co_return why_ended();
    if (!upload_.is_sent()) upload_.start(*stream_);
    try {
      failure = co_await read_response();
    } catch (...) {  // the upload refers to this object: it must end first
      upload_.keep_exception();
    }
  }
  client_was_awaited_ = upload_.is_held_back();
  if (!upload_.state().has_finished) co_await upload_.end();
  if (upload_.has_thrown()) stream_->reset();  // a cut request must not look complete
  upload_.rethrow();
  if (failure == Failure::none) {
    watchdog_.watch(nullptr);
    stream_->finish(upload_.is_sent());
  }
  co_return failure;
}

void Attempt::hold(std::unique_ptr<upstream::Connection> connection) {
  if (!connection) return;
  stream_ = &http1_.emplace(phase_, std::move(connection));
  watchdog_.watch(stream_);
}

void Attempt::share(std::shared_ptr<upstream::Http2Connection> connection, bool was_used) {
  http2_ = std::make_unique<Http2UpstreamStream>(phase_, std::move(connection),
                                                 server_.settings().secure, was_used);
  stream_ = http2_.get();
  watchdog_.watch(stream_);
}

/// False: none can be used.
bool Attempt::take_open_connection(bool may_reuse) {
  if (upstream::Http2Connections* const shared = server_.shared()) {
    auto found = shared->find();
    if (found) share(std::move(found), true);
  } else if (may_reuse) {
    hold(server_.take_idle(phase_.client.number));
  }
  return stream_ != nullptr;
}

FailedTry Attempt::failed(Failure failure) const {
  const Interruptions& interruptions = watchdog_.interruptions();
  return {.failure = failure,
          .is_idempotent = is_idempotent(phase_.request.view.method),
          .body_is_kept = phase_.client.body->is_kept(),
          .was_answered = was_answered_,
          .answer_has_begun = answer_has_begun_,
          .client_was_awaited = client_was_awaited_,
          .was_idle = stream_ != nullptr && stream_->was_used(),
          .was_refused = stream_ != nullptr && stream_->was_refused(),
          .client_is_gone = interruptions.client_left || interruptions.aborted,
          .response_has_begun = responder_.has_begun()};
}

void Attempt::report(const FailedTry& failed) {
  Context& context = phase_.context;
  const std::string server = server_.settings().authority();
  const bool has_stream = stream_ != nullptr;
  const auto tls_error = has_stream ? stream_->tls_error() : std::string_view{};
  if (failed.failure == Failure::upstream_timed_out && has_stream) stream_->timed_out();
  if (!tls_error.empty()) {
    context.warn("upstream " + phase_.upstream().name + ": TLS to " + server + ": " +
                 std::string(tls_error));
  }
  if (!is_servers_fault(failed)) return;
  // Before the request was sent, the server object has recorded the reason itself.
  if (is_cut(failed.failure) || failed.failure == Failure::upstream_timed_out)
    server_.note(tls_error, answer_to(failed.failure, phase_.record.http2_error).detail);
  server_.failed(context.wheel.now());
}

/// Within connect_timeout.
loop::Task<Failure> Attempt::connect() {
  watchdog_.arm(Phase::connect, phase_.upstream().connect_timeout);
  upstream::Http2Connections* const shared = server_.shared();
  return shared == nullptr ? open_connection() : share_connection(*shared);
}

loop::Task<error_code> Attempt::await_opening(upstream::Http2Connections& shared) {
  OpeningWait wait(phase_.context.io);
  const Watched watched(watchdog_, wait);
  co_return co_await shared.await_opening(wait.event);
}

/// Waits for a connection that another request opens, or opens one.
loop::Task<Failure> Attempt::share_connection(upstream::Http2Connections& shared) {
  while (shared.is_worth_waiting()) {
    const error_code ec = co_await await_opening(shared);
    const Failure why = why_not_connected(watchdog_.interruptions(), ec);
    if (why != Failure::none) co_return why;
    if (take_open_connection(false)) co_return Failure::none;
    if (server_.shared() == nullptr) co_return co_await open_connection();  // it speaks HTTP/1.1
  }
  const upstream::Http2Connections::Opening opening(shared);
  co_return co_await open_connection();
}

/// With protocol: auto each connection has the protocol that the server chooses for it, which may
/// have been another one before.
loop::Task<Failure> Attempt::open_connection() {
  hold(server_.make());
  const Duration timeout = phase_.upstream().connect_timeout;
  error_code ec = co_await server_.resolve(phase_.context.wheel.now(), timeout);
  const Interruptions& interruptions = watchdog_.interruptions();
  if (!ec && !interruptions.timed_out && !interruptions.aborted && !interruptions.client_left)
    ec = co_await server_.connect(http1_->connection());
  const Failure failure = why_not_connected(watchdog_.interruptions(), ec);
  upstream::Http2Connections* const shared = server_.shared();
  if (failure != Failure::none || shared == nullptr || !http1_->connection().speaks_http2)
    co_return failure;
  share(shared->add(http1_->take_connection(), phase_.context.wheel.now()), false);
  http1_.reset();
  co_return Failure::none;
}

/// Sends the head and the part of the body that has arrived in one piece. On another try this
/// includes the part that was read during the earlier ones.
Failure Attempt::build_request() {
  stream_->begin(phase_.request,
                 {.guard = phase_.generation.request_rules->field_guard,
                  .via = via_name(),
                  .authority = server_.authority(),
                  .trailer = upload_.announced_trailers(),
                  .target = phase_.target,
                  .edits = phase_.request_edits,
                  .wants_identity_coding = phase_.meter && phase_.meter->reads_body()});
  upload_.append_arrived(*stream_);
  return upload_.state().failure;
}

loop::Task<error_code> Attempt::flush() {
  watchdog_.arm(Phase::body, phase_.body_timeout());
  return stream_->flush();
}

loop::Task<Failure> Attempt::read_response() {
  if (upload_.state().has_finished) watchdog_.arm(Phase::response, phase_.response_timeout());
  Response response;
  for (;;) {
    const UpstreamStream::HeadState state = stream_->take_head(response.received);
    if (state != UpstreamStream::HeadState::incomplete)
      phase_.record.upstream_took = phase_.context.pass_clock.now() - phase_.record.begun_at;
    if (state == UpstreamStream::HeadState::malformed) co_return Failure::upstream_invalid;
    if (state == UpstreamStream::HeadState::incomplete) {
      if (const Failure why = interruption(); why != Failure::none) co_return why;
      const error_code ec = co_await stream_->fill();
      if (stream_->has_unread()) was_answered_ = answer_has_begun_ = true;
      if (ec) co_return why_ended();
      continue;
    }
    take_head(response);
    const int status = response.received.line.status;
    if (phase_.request.is_tunnel_opened_by(status)) co_return Failure::upstream_invalid;
    if (status >= 200) co_return co_await relay(response);
    const http::ResponseHead head = response.head(phase_.response_edits);
    if (status == switching_protocols) co_return co_await open_tunnel(head);
    if (co_await responder_.interim(head)) co_return Failure::downstream_gone;
    answer_has_begun_ = stream_->has_unread();
    // The response timeout is not restarted, because an upstream could send 103 forever.
    if (upload_.state().has_finished && watchdog_.phase() != Phase::response)
      watchdog_.arm(Phase::response, phase_.response_timeout());
  }
}

void Attempt::take_head(Response& response) {
  const UpstreamStream::Head& head = response.received;
  server_.answered();
  const bool reads_trailers = phase_.meter != nullptr && phase_.meter->reads_fields();
  response.relays_trailers = head.may_have_trailers && http::wants_trailers(phase_.request.view);
  if (response.relays_trailers || (head.may_have_trailers && reads_trailers)) {
    response.trailers.open({.head = head.fields,
                            .connection = head.connection,
                            .only_announced = false,
                            .edits = phase_.response_edits});
  }
}

/// Checked before each wait as well, because a cancellation without a read in progress has no
/// effect.
Failure Attempt::interruption() const {
  return phase_.blame(why_interrupted(watchdog_.interruptions(), upload_.state()));
}

/// Returns why an operation on the upstream connection has failed. A server resets a call by itself
/// when the deadline that the client chose has passed.
Failure Attempt::why_ended() const {
  const Failure why = interruption();
  if (why != Failure::none) return why;
  if (phase_.is_past_deadline()) return Failure::deadline_passed;
  const UpstreamStream::Cut cut = stream_->cut();
  phase_.record.http2_error = cut.http2_error;
  return cut.failure;
}

/// Sends the head together with the part of the body that has arrived; then the rest, piece by
/// piece.
loop::Task<Failure> Attempt::relay(Response& response) {
  responder_.begin(
      {.head = response.head(phase_.response_edits),
       .limit_fields = phase_.limit_fields,
       .date = phase_.context.date.at(phase_.record.begun_at + *phase_.record.upstream_took)});
  if (phase_.meter != nullptr) phase_.meter->begin(response.received.fields);
  stream_->keep_trailers(response.trailers);
  for (;;) {
    std::string_view large;
    const BodyState state = gather(large, response);
    if (state == BodyState::malformed && !responder_.has_begun())
      co_return Failure::upstream_invalid;
    error_code ec;
    if (responder_.send(ec)) ec = co_await responder_.flush();
    if (!ec && !large.empty()) ec = co_await responder_.send_from_place(large);
    if (ec) co_return Failure::downstream_gone;
    if (state == BodyState::ended) co_return Failure::none;
    if (state == BodyState::malformed) co_return Failure::upstream_invalid;
    if (!large.empty()) continue;
    if (const Failure failure = upload_.state().failure; failure != Failure::none)
      co_return failure;
    if (phase_.is_past_deadline()) co_return Failure::deadline_passed;
    // An upload reads from the client and detects its end by itself.
    watchdog_.arm(upload_.state().has_finished ? Phase::relay : Phase::body, phase_.body_timeout());
    if (co_await stream_->fill()) co_return why_ended();
  }
}

/// Passes the bytes that have arrived to the responder, up to a piece that is too large to be
/// copied.
BodyState Attempt::gather(std::string_view& large, const Response& response) {
  std::string_view piece;
  BodyState state = BodyState::payload;
  while ((state = stream_->pull(piece)) == BodyState::payload) {
    if (phase_.meter != nullptr) phase_.meter->feed(piece);
    if (responder_.append(piece)) continue;
    large = piece;
    break;
  }
  if (state != BodyState::ended) return state;
  const http::FieldSection& trailers = response.trailers.fields();
  responder_.end(response.relays_trailers ? trailers : http::no_fields);
  if (phase_.meter != nullptr) {
    phase_.meter->end(trailers);
    responder_.state_grpc_status(phase_.meter->grpc_status(response.received.line.status));
  }
  return state;
}

/// After a 101 response bytes pass unchanged. The request is counted now and logged at the end.
loop::Task<Failure> Attempt::open_tunnel(const http::ResponseHead& head) {
  const std::string& offer = phase_.request.upgrade;
  const bool was_offered =
      !offer.empty() && head.connection.upgrade && http::takes_offer(head.fields, offer);
  upstream::Connection* const connection = stream_->upgraded();
  const std::string& key = phase_.request.websocket_key;
  if (!was_offered || connection == nullptr || watchdog_.aborted() ||
      (!key.empty() && !accepts_key(head.fields, key)))
    co_return Failure::upstream_invalid;
  phase_.count.count(head.line.status, phase_.context.pass_clock.now());
  const error_code ec = co_await responder_.switch_protocols(
      {.head = head, .limit_fields = phase_.limit_fields, .date = {}});
  if (ec) co_return Failure::downstream_gone;
  const bool is_whole =
      co_await responder_.tunnel({.stream = connection->stream,
                                  .input = connection->input,
                                  .idle_timeout = phase_.upstream().tunnel_timeout});
  if (!is_whole) connection->stream.reset();  // the upstream must be able to detect the cut
  co_return Failure::none;
}

}  // namespace weir::proxy
