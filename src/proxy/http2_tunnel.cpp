#include "proxy/http2_tunnel.hpp"

#include <utility>

#include "proxy/context.hpp"

namespace weir::proxy {

Http2Tunnel::Http2Tunnel(Http2Stream& stream, TunnelEnd upstream, std::span<char> scratch)
    : stream_(stream), upstream_(upstream), scratch_(scratch), other_way_(stream.context().io) {}

loop::Task<bool> Http2Tunnel::run() {
  keep_alive();
  // Creates both before either begins, because one direction alone would outlive the objects it
  // uses.
  loop::Task<> up = carry(carry_up());
  loop::Task<> down = carry(carry_down());
  loop::spawn(stream_.context().io, run_down(std::move(down)));
  co_await up;
  while (both_run_)
    static_cast<void>(co_await other_way_.wait());
  if (thrown_) std::rethrow_exception(thrown_);
  co_return !is_stopped_;
}

loop::Task<> Http2Tunnel::run_down(loop::Task<> task) {
  co_await task;
  both_run_ = false;
  other_way_.notify();
}

/// Neither direction ends without the other: an exception in one is kept until both have ended.
loop::Task<> Http2Tunnel::carry(loop::Task<bool> direction) {
  bool has_ended = false;
  try {
    has_ended = co_await direction;
  } catch (...) {
    thrown_ = std::current_exception();
    upstream_.stream.reset();
  }
  if (!has_ended) stop();
}

loop::Task<bool> Http2Tunnel::carry_up() {
  Http2RequestBody& body = stream_.body();
  loop::Stream& to = upstream_.stream;
  error_code ec;
  while (!ec && !is_stopped_) {
    std::string_view piece;
    const BodyState state = body.pull(piece);
    if (state == BodyState::ended) co_return !co_await to.shutdown_send();
    if (state == BodyState::exhausted) {
      ec = co_await body.fill();
      continue;
    }
    to.try_write(piece, ec);
    if (to.has_unsent()) ec = co_await to.flush();
    keep_alive();
  }
  co_return false;
}

loop::Task<bool> Http2Tunnel::carry_down() {
  error_code ec = co_await pass_down(upstream_.input.data());
  upstream_.input.drop();
  while (!ec && !is_stopped_) {
    const auto room = asio::buffer(scratch_.data(), scratch_.size());
    const std::size_t size = co_await upstream_.stream.read(room, ec, loop::ReadTime::last);
    if (ec == asio::error::eof) {
      stream_.responder().end(http::no_fields);
      stream_.responder().send(ec);
      co_return !ec;
    }
    if (!ec) ec = co_await pass_down({scratch_.data(), size});
  }
  co_return false;
}

loop::Task<error_code> Http2Tunnel::pass_down(std::string_view bytes) {
  Http2Responder& to = stream_.responder();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), gather_limit)))
    to.append(bytes.substr(0, gather_limit));
  keep_alive();
  error_code ec;
  if (to.send(ec)) ec = co_await to.drain();
  keep_alive();
  co_return ec;
}

/// Begins the time without a byte again.
void Http2Tunnel::keep_alive() {
  stream_.watchdog().arm(Phase::tunnel, upstream_.idle_timeout);
}

/// Stops both directions, because a tunnel needs both.
void Http2Tunnel::stop() {
  is_stopped_ = true;
  stream_.cancel_waits();
  upstream_.stream.cancel();
}

}  // namespace weir::proxy
