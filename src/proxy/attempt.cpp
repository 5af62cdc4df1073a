#include "proxy/attempt.hpp"

#include <string>
#include <utility>

#include "http/head_parser.hpp"
#include "http/trailers.hpp"
#include "http/upgrade.hpp"
#include "proxy/context.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t most_response_head = 64 * 1024;
constexpr int switching_protocols = 101;

/// Another protocol is detected by its first bytes, whether or not it ends a line.
bool may_be_http(std::string_view data) {
  constexpr std::string_view start = "HTTP/1.";
  return start.starts_with(data.substr(0, start.size()));
}

std::uint8_t minor_version(const http::StatusLine& line) {
  return static_cast<std::uint8_t>(line.version % 10);
}

}  // namespace

/// The head of a response, and the properties that follow from it.
struct Attempt::Response {
  http::StatusLine line{};
  http::ConnectionOptions connection{};
  http::Framing body{};
  http::Trailers trailers{};
  bool relays_trailers = false;

  http::ResponseHead head(std::span<const http::FieldView> fields,
                          const http::FieldEdits* edits) const {
    return {.line = line,
            .fields = fields,
            .connection = connection,
            .body = body,
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
  if (may_reuse) hold(server_.take_idle(phase_.client.number));
  if (!connection_) {
    if (const Failure failure = co_await connect(); failure != Failure::none) co_return failure;
  }
  Failure failure = append_request();
  if (failure == Failure::none) {
    error_code ec;
    connection_->stream.try_write(phase_.context.output, ec);
    if (connection_->stream.has_unsent()) ec = co_await flush();
    if (ec) co_return why_ended();
    if (!upload_.is_sent()) upload_.start(connection_->stream);
    try {
      failure = co_await read_response();
    } catch (...) {  // the upload refers to this object: it must end first
      upload_.keep_exception();
    }
  }
  client_was_awaited_ = upload_.is_held_back();
  if (!upload_.state().has_finished) co_await upload_.end();
  if (upload_.has_thrown()) connection_->stream.reset();  // a cut request must not look complete
  upload_.rethrow();
  if (failure == Failure::none && connection_->reusable && upload_.is_sent()) give_back();
  co_return failure;
}

void Attempt::hold(std::unique_ptr<upstream::Connection> connection) {
  connection_ = std::move(connection);
  watchdog_.watch(connection_ ? &connection_->stream : nullptr);
}

void Attempt::give_back() {
  watchdog_.watch(nullptr);
  server_.give_back(std::move(connection_), phase_.context.wheel.now(), phase_.client.number);
  phase_.record.has_own_connection |= phase_.upstream().reuse == options::Reuse::safe;
}

FailedTry Attempt::failed(Failure failure) const {
  const Interruptions& interruptions = watchdog_.interruptions();
  return {.failure = failure,
          .is_idempotent = is_idempotent(phase_.request.view.method),
          .body_is_kept = phase_.client.body->is_kept(),
          .was_answered = was_answered_,
          .answer_has_begun = answer_has_begun_,
          .client_was_awaited = client_was_awaited_,
          .was_idle = connection_ && connection_->reused,
          .client_is_gone = interruptions.client_left || interruptions.aborted,
          .response_has_begun = responder_.has_begun()};
}

void Attempt::report(const FailedTry& failed) {
  Context& context = phase_.context;
  const std::string server = server_.settings().authority();
  const auto last_error = connection_ ? connection_->stream.last_error() : std::string_view{};
  if (!last_error.empty()) {
    context.warn("upstream " + phase_.upstream().name + ": TLS to " + server + ": " +
                 std::string(last_error));
  }
  if (!is_servers_fault(failed)) return;
  // Before the request was sent, the server object has recorded the reason itself.
  if (failed.failure == Failure::upstream_broken || failed.failure == Failure::upstream_timed_out)
    server_.note(*connection_, answer_to(failed.failure).detail);
  server_.failed(context.wheel.now());
}

loop::Task<Failure> Attempt::connect() {
  hold(server_.make());
  const Duration timeout = phase_.upstream().connect_timeout;
  watchdog_.arm(Phase::connect, timeout);
  error_code ec = co_await server_.resolve(phase_.context.wheel.now(), timeout);
  const Interruptions& interruptions = watchdog_.interruptions();
  if (!ec && !interruptions.timed_out && !interruptions.aborted && !interruptions.client_left)
    ec = co_await server_.connect(*connection_);
  co_return why_not_connected(watchdog_.interruptions(), ec);
}

/// Sends the head and the part of the body that has arrived in one piece. On another try this
/// includes the part that was read during the earlier ones.
Failure Attempt::append_request() {
  std::string& out = phase_.context.output;
  out.clear();
  http::append_request_head(out, phase_.request,
                            {.guard = phase_.generation.request_rules->field_guard,
                             .via = via_name(),
                             .authority = server_.authority(),
                             .trailer = upload_.announced_trailers(),
                             .target = phase_.target,
                             .edits = phase_.request_edits,
                             .wants_identity_coding = phase_.meter && phase_.meter->reads_body()});
  upload_.append_arrived(out);
  return upload_.state().failure;
}

loop::Task<error_code> Attempt::flush() {
  watchdog_.arm(Phase::body, phase_.body_timeout());
  return connection_->stream.flush();
}

loop::Task<Failure> Attempt::read_response() {
  const Duration timeout = phase_.upstream().response_timeout;
  if (upload_.state().has_finished) watchdog_.arm(Phase::response, timeout);
  for (;;) {
    std::size_t head_size = 0;
    Failure failure = co_await read_head(head_size);
    if (failure != Failure::none) co_return failure;
    Response response;
    failure = take_head(head_size, response);
    if (failure != Failure::none) co_return failure;
    const http::ResponseHead head = response.head(connection_->fields, phase_.response_edits);
    if (response.line.status >= 200) co_return co_await relay(response);
    if (response.line.status == switching_protocols) co_return co_await open_tunnel(head);
    if (co_await responder_.interim(head)) co_return Failure::downstream_gone;
    answer_has_begun_ = !connection_->input.empty();
    // The response timeout is not restarted, because an upstream could send 103 forever.
    if (upload_.state().has_finished && watchdog_.phase() != Phase::response)
      watchdog_.arm(Phase::response, timeout);
  }
}

/// Reads until a head has arrived whole, at the front of the connection's buffer.
loop::Task<Failure> Attempt::read_head(std::size_t& size) {
  loop::InputBuffer& input = connection_->input;
  std::size_t scanned = 0;
  for (;;) {
    const http::HeadEnd end = http::find_head_end(input.data(), scanned);
    size = end.size;
    if (end.state == http::HeadEnd::State::complete) co_return Failure::none;
    if (end.state == http::HeadEnd::State::malformed || !may_be_http(input.data()) ||
        !input.make_room(most_response_head))
      co_return Failure::upstream_invalid;
    if (const Failure why = interruption(); why != Failure::none) co_return why;
    const auto room = asio::buffer(input.free_begin(), input.free_size());
    error_code ec;
    const std::size_t n = co_await connection_->stream.read(room, ec);
    input.commit(n);
    was_answered_ |= n > 0;
    answer_has_begun_ |= n > 0;
    if (ec) co_return why_ended();
  }
}

Failure Attempt::take_head(std::size_t size, Response& response) {
  loop::InputBuffer& input = connection_->input;
  auto& fields = connection_->fields;
  phase_.record.upstream_took = phase_.context.pass_clock.now() - phase_.record.begun_at;
  auto line = http::parse_response_head(input.data().substr(0, size), fields);
  if (!line && http::move_space_behind_colons(input.writable(size)))
    line = http::parse_response_head(input.data().substr(0, size), fields);
  // RFC 9110 section 15: other numbers are no status codes.
  if (!line || line->status < 100 || line->status > 599) return Failure::upstream_invalid;
  input.consume(size);  // the views are valid until the next read
  response.line = *line;
  response.connection = http::connection_options(fields);
  const auto body = http::response_framing(phase_.request.view.method, line->status,
                                           minor_version(*line), fields);
  if (!body || response.connection.too_many) return Failure::upstream_invalid;
  response.body = *body;
  server_.answered();
  const bool is_chunked = body->kind == http::Framing::Kind::chunked;
  const bool reads_trailers = phase_.meter != nullptr && phase_.meter->reads_fields();
  response.relays_trailers = is_chunked && http::wants_trailers(phase_.request.view);
  if (response.relays_trailers || (is_chunked && reads_trailers)) {
    response.trailers.open({.head = fields,
                            .connection = response.connection,
                            .only_announced = false,
                            .edits = phase_.response_edits});
  }
  return Failure::none;
}

/// Checked before each wait as well, because a cancellation without a read in progress has no
/// effect.
Failure Attempt::interruption() const {
  return why_interrupted(watchdog_.interruptions(), upload_.state());
}

/// Returns why an operation on the upstream connection has failed.
Failure Attempt::why_ended() const {
  const Failure why = interruption();
  return why == Failure::none ? Failure::upstream_broken : why;
}

/// Sends the head together with the part of the body that has arrived; then the rest, piece by
/// piece.
loop::Task<Failure> Attempt::relay(Response& response) {
  connection_->reusable = response.body.kind != http::Framing::Kind::until_close &&
                          !http::wants_close(minor_version(response.line), response.connection);
  responder_.begin(
      {.head = response.head(connection_->fields, phase_.response_edits),
       .limit_fields = phase_.limit_fields,
       .date = phase_.context.date.at(phase_.record.begun_at + *phase_.record.upstream_took)});
  if (phase_.meter != nullptr) phase_.meter->begin(connection_->fields);
  BodySource source(connection_->stream, connection_->input, response.body);
  source.keep_trailers(response.trailers);
  for (;;) {
    std::string_view large;
    const BodyState state = gather(source, large, response.relays_trailers);
    if (state == BodyState::malformed) co_return Failure::upstream_invalid;
    error_code ec;
    if (responder_.send(ec)) ec = co_await responder_.flush();
    if (!ec && !large.empty()) ec = co_await responder_.send_from_place(large);
    if (ec) co_return Failure::downstream_gone;
    if (state == BodyState::ended) co_return Failure::none;
    if (!large.empty()) continue;
    if (const Failure failure = upload_.state().failure; failure != Failure::none)
      co_return failure;
    // An upload reads from the client and detects its end by itself.
    watchdog_.arm(upload_.state().has_finished ? Phase::relay : Phase::body, phase_.body_timeout());
    if (co_await source.fill()) co_return why_ended();
  }
}

/// Passes the bytes that have arrived to the responder, up to a piece that is too large to be
/// copied.
BodyState Attempt::gather(BodySource& source, std::string_view& large, bool relays_trailers) {
  std::string_view piece;
  BodyState state = BodyState::payload;
  while ((state = source.pull(piece)) == BodyState::payload) {
    if (phase_.meter != nullptr) phase_.meter->feed(piece);
    if (responder_.append(piece)) continue;
    large = piece;
    break;
  }
  if (state != BodyState::ended) return state;
  responder_.end(relays_trailers ? source.trailers() : http::no_fields);
  if (phase_.meter != nullptr) phase_.meter->end(source.trailers());
  return state;
}

/// After a 101 response bytes pass unchanged. The request is counted now and logged at the end.
loop::Task<Failure> Attempt::open_tunnel(const http::ResponseHead& head) {
  const std::string& offer = phase_.request.upgrade;
  const bool was_offered =
      !offer.empty() && head.connection.upgrade && http::takes_offer(head.fields, offer);
  if (!was_offered || watchdog_.aborted()) co_return Failure::upstream_invalid;
  connection_->reusable = false;
  phase_.count.count(head.line.status, phase_.context.pass_clock.now());
  const error_code ec = co_await responder_.switch_protocols(
      {.head = head, .limit_fields = phase_.limit_fields, .date = {}});
  if (ec) co_return Failure::downstream_gone;
  const bool is_whole =
      co_await responder_.tunnel({.stream = connection_->stream,
                                  .input = connection_->input,
                                  .idle_timeout = phase_.upstream().tunnel_timeout});
  if (!is_whole) connection_->stream.reset();  // the upstream must be able to detect the cut
  co_return Failure::none;
}

}  // namespace weir::proxy
