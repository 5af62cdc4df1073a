#include "proxy/tunnel.hpp"

namespace weir::proxy {

Tunnel::Tunnel(asio::io_context& io, std::span<char> scratch, Side client, Side upstream,
               TunnelIdle idle)
    : io_(io),
      scratch_(scratch),
      client_(client),
      upstream_(upstream),
      idle_(idle),
      other_way_(io.get_executor(), loop::Timer::time_point::max()) {}

loop::Task<bool> Tunnel::run() {
  error_code ec;
  idle_.wheel.arm(idle_.deadline, idle_.ticks);
  // Creates both before either begins, because one direction alone would outlive the objects it
  // uses.
  loop::Task<> up = carry(client_, upstream_);
  loop::Task<> down = carry(upstream_, client_);
  loop::spawn(io_, carry_down(std::move(down)));
  co_await up;
  while (both_run_)
    co_await other_way_.async_wait(loop::into(ec));
  if (thrown_) std::rethrow_exception(thrown_);
  co_return !stopped_;
}

loop::Task<> Tunnel::carry_down(loop::Task<> task) {
  co_await task;
  both_run_ = false;
  other_way_.cancel();
}

/// Neither direction ends without the other: an exception in one is kept until both have ended.
loop::Task<> Tunnel::carry(Side& from, Side& to) {
  bool ended = false;
  try {
    ended = co_await carry_to_end(from, to);
  } catch (...) {
    thrown_ = std::current_exception();
    client_.stream.reset();
    upstream_.stream.reset();
  }
  if (!ended) stop();
}

/// Returns false if this direction cannot continue.
loop::Task<bool> Tunnel::carry_to_end(Side& from, Side& to) {
  error_code ec;
  if (!from.input.empty()) pass_on(from.input.data(), from, to, ec);
  from.input.consume(from.input.data().size());
  from.input.drop();
  while (!ec && !stopped_) {
    if (to.stream.has_unsent()) {
      ec = co_await to.stream.flush();
      has_lost_bytes_ |= ec.failed();
      idle_.wheel.arm(idle_.deadline, idle_.ticks);
      continue;
    }
    const std::size_t n = co_await from.stream.read(asio::buffer(scratch_.data(), scratch_.size()),
                                                    ec, loop::ReadTime::last);
    if (ec == asio::error::eof) {
      ec = co_await to.stream.shutdown_send();
      co_return !ec;
    }
    if (!ec) pass_on({scratch_.data(), n}, from, to, ec);
  }
  co_return false;
}

/// Sends what fits. The stream keeps a copy of the rest.
void Tunnel::pass_on(std::string_view piece, Side& from, Side& to, error_code& ec) {
  idle_.wheel.arm(idle_.deadline, idle_.ticks);
  from.carried += piece.size();
  to.stream.try_write(piece, ec);
}

/// Stops both directions, because a tunnel needs both.
void Tunnel::stop() {
  stopped_ = true;
  client_.stream.cancel();
  upstream_.stream.cancel();
}

}  // namespace weir::proxy
