// Upgrades: what the client offers goes up, and when the upstream takes it, HTTP ends here.
#include "http/upgrade.hpp"
#include "proxy/session.hpp"
#include "proxy/ticks.hpp"
#include "proxy/tunnel.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t tunnel_input = 4 * 1024;

}  // namespace

/// The upstream has answered 101: from here on bytes pass as they are. Counted now, logged at its
/// end.
Task<Failure> Session::open_tunnel(const ResponseHead& head) {
  const bool was_offered = !exchange_->upgrade.empty() && head.connection.upgrade &&
                           http::takes_offer(head.fields, exchange_->upgrade);
  if (!was_offered || aborted_) co_return Failure::upstream_invalid;
  exchange_->keep_alive = false;
  upstream_->reusable = false;  // it speaks HTTP no more
  exchange_->head_is_sent = true;
  exchange_->status = head.line.status;
  std::string& out = context_.output;
  out.clear();
  append_switching_head(out, head, *exchange_);
  count();
  if (co_await send(out)) co_return Failure::downstream_gone;

  body_input_ = std::make_unique<InputBuffer>(tunnel_input);
  body_input_->append(input_.data());
  input_.consume(input_.data().size());
  phase_ = Phase::tunnel;
  timed_out_ = false;
  Tunnel tunnel(
      context_.io, {.stream = stream_, .input = *body_input_, .carried = exchange_->bytes_in},
      {.stream = upstream_->stream, .input = upstream_->input, .carried = exchange_->bytes_out},
      {.wheel = context_.wheel,
       .deadline = *this,
       .ticks = ticks_in(exchange_->upstream->tunnel_timeout)});
  const bool ended_in_order = co_await tunnel.run();
  body_input_.reset();
  if (!ended_in_order && !timed_out_) {
    // Neither side must take the other's end for the whole.
    stream_.reset();
    upstream_->stream.reset();
  }
  co_return Failure::none;
}

}  // namespace weir::proxy
