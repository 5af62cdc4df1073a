#include "proxy/tunnel.hpp"

#include <algorithm>

namespace weir::proxy {
namespace {

/// A side that fills its buffer in one read has more to send.
constexpr std::size_t largest_piece = 64 * 1024;

}  // namespace

Tunnel::Tunnel(asio::io_context& io, Side client, Side upstream, TunnelIdle idle)
    : io_(io),
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
  while (!stopped_) {
    if (from.input.empty()) {
      const std::size_t room = from.input.free_size();
      const std::size_t n =
          co_await from.stream.read(asio::buffer(from.input.free_begin(), room), ec);
      if (ec == asio::error::eof) {
        to.stream.shutdown_send();
        co_return true;
      }
      if (ec) break;
      from.input.commit(n);
    }
    const std::size_t arrived = from.input.data().size();
    idle_.wheel.arm(idle_.deadline, idle_.ticks);
    from.carried += arrived;
    to.stream.try_write(from.input.data(), ec);
    if (!ec && !stopped_ && to.stream.has_unsent()) ec = co_await to.stream.flush();
    if (ec) break;
    from.input.consume(arrived);
    idle_.wheel.arm(idle_.deadline, idle_.ticks);
    if (from.input.free_size() == arrived)
      from.input.grow(std::min(largest_piece, 2 * from.input.capacity()));
  }
  co_return false;
}

/// Stops both directions, because a tunnel needs both.
void Tunnel::stop() {
  stopped_ = true;
  client_.stream.cancel();
  upstream_.stream.cancel();
}

}  // namespace weir::proxy
