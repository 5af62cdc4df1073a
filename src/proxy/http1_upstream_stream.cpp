#include "proxy/http1_upstream_stream.hpp"

#include "http/chunked.hpp"
#include "http/head_parser.hpp"
#include "proxy/context.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t most_response_head = 64 * 1024;

/// Another protocol is detected by its first bytes, whether or not it ends a line.
bool may_be_http(std::string_view data) {
  constexpr std::string_view start = "HTTP/1.";
  return start.starts_with(data.substr(0, start.size()));
}

std::uint8_t minor_version(const http::StatusLine& line) {
  return static_cast<std::uint8_t>(line.version % 10);
}

bool is_chunked(const http::ReceivedRequest& request) {
  return request.framing.kind == http::Framing::Kind::chunked;
}

}  // namespace

void Http1UpstreamStream::begin(const http::ReceivedRequest& request,
                                const http::ForwardedHop& hop) {
  http::append_request_head(output(), request, hop);
}

void Http1UpstreamStream::append(std::string_view piece) {
  is_chunked(phase_.request) ? http::append_chunk(output(), piece) : void(output().append(piece));
}

void Http1UpstreamStream::end(const http::FieldSection& trailers) {
  if (is_chunked(phase_.request)) http::append_last_chunk(output(), trailers);
}

/// The scratch string of the worker, which others use between two calls of send().
std::string& Http1UpstreamStream::output() {
  std::string& out = phase_.context.output;
  if (!std::exchange(is_building_, true)) out.clear();
  return out;
}

bool Http1UpstreamStream::send(error_code& ec) {
  connection_->stream.try_write(output(), ec);
  is_building_ = false;
  return connection_->stream.has_unsent();
}

UpstreamStream::HeadState Http1UpstreamStream::take_head(Head& head) {
  loop::InputBuffer& input = connection_->input;
  if (input.empty() && input.make_room(most_response_head)) return HeadState::incomplete;
  const http::HeadEnd end = http::find_head_end(input.data(), scanned_);
  if (end.state == http::HeadEnd::State::malformed) return HeadState::malformed;
  if (end.state == http::HeadEnd::State::incomplete) {
    const bool may_follow = may_be_http(input.data()) && input.make_room(most_response_head);
    return may_follow ? HeadState::incomplete : HeadState::malformed;
  }
  scanned_ = 0;
  auto& fields = connection_->fields;
  auto line = http::parse_response_head(input.data().substr(0, end.size), fields);
  if (!line && http::move_space_behind_colons(input.writable(end.size)))
    line = http::parse_response_head(input.data().substr(0, end.size), fields);
  // RFC 9110 section 15: other numbers are no status codes.
  if (!line || line->status < 100 || line->status > 599) return HeadState::malformed;
  input.consume(end.size);  // the views are valid until the next read
  const std::uint8_t version = minor_version(*line);
  const auto body =
      http::response_framing(phase_.request.view.method, line->status, version, fields);
  head.line = *line;
  head.fields = fields;
  http::read_connection_options(fields, {}, head.connection);
  if (!body || head.connection.too_many) return HeadState::malformed;
  head.body = *body;
  head.may_have_trailers = body->kind == http::Framing::Kind::chunked;
  if (line->status >= 200) {
    is_reusable_ = body->kind != http::Framing::Kind::until_close &&
                   !http::wants_close(version, head.connection);
    body_.emplace(connection_->stream, input, *body);
  }
  return HeadState::complete;
}

loop::Task<error_code> Http1UpstreamStream::fill_head() {
  loop::InputBuffer& input = connection_->input;
  error_code ec;
  const auto room = asio::buffer(input.free_begin(), input.free_size());
  input.commit(co_await connection_->stream.read(room, ec));
  co_return ec;
}

std::string_view Http1UpstreamStream::tls_error() const {
  return connection_ ? connection_->stream.last_error() : std::string_view{};
}

void Http1UpstreamStream::finish(bool is_sent) {
  if (!is_sent || !is_reusable_) return;
  upstream::PooledServer& server = connection_->server;
  server.give_back(std::move(connection_), phase_.context.wheel.now(), phase_.client.number);
  phase_.record.has_own_connection |= phase_.upstream().reuse == options::Reuse::safe;
}

}  // namespace weir::proxy
