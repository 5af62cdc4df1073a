// Reading a request head.
#include "proxy/head_inspection.hpp"
#include "proxy/head_parser.hpp"
#include "proxy/session.hpp"

namespace weir::proxy {

Task<Failure> Session::read_head() {
  std::size_t scanned = 0;
  error_code ec;
  if (exchange_) context_.give_back(std::move(exchange_));
  input_.shrink();
  arm(Phase::idle, context_.generation->config.downstream.idle_timeout);
  if (is_draining()) drain();
  if (input_.empty()) co_await context_.turns.next();
  for (bool is_first = true;; is_first = false) {
    if (const Failure failure = look_for_head(scanned); failure != Failure::none) co_return failure;
    if (exchange_ && exchange_->head_size != 0) co_return Failure::none;
    // Asked before the read as well: a deadline that came while nothing was being read ended
    // nothing.
    std::size_t n = 0;
    const bool is_ended = timed_out_ || aborted_;
    const auto room = asio::buffer(input_.free_begin(), input_.free_size());
    const bool is_probably_there = is_first && context_.turns.are_many();
    if (!is_ended) n = co_await stream_.read(room, ec, is_probably_there);
    if (ec || n == 0) {
      const bool head_is_late = timed_out_ && phase_ == Phase::head && !aborted_;
      co_return head_is_late ? Failure::head_timed_out : Failure::downstream_gone;
    }
    input_.commit(n);
  }
}

/// Sets head_size if the head has arrived whole; else makes room for more of it.
Failure Session::look_for_head(std::size_t& scanned) {
  const auto& limits = context_.generation->config.downstream;
  // RFC 9112 section 2.2: empty lines before a request line are ignored.
  while (scanned == 0 && input_.data().starts_with("\r\n"))
    input_.consume(2);
  if (input_.empty() || input_.data() == "\r") {
    input_.make_room(limits.max_head);
    return Failure::none;
  }
  if (!exchange_) {
    begin_exchange();
    arm(Phase::head, limits.head_timeout);
  }
  const HeadEnd end = find_head_end(input_.data(), scanned);
  if (end.state == HeadEnd::State::malformed) return Failure::head_malformed;
  if (end.state == HeadEnd::State::complete && end.size <= limits.max_head) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.Move): begun above, if it had been given back.
    exchange_->head_size = end.size;
    return Failure::none;
  }
  if (end.state == HeadEnd::State::incomplete && input_.make_room(limits.max_head))
    return Failure::none;
  return fault_of_large_head(input_.data().substr(0, limits.max_head));
}

/// Until it has passed, the connection is not kept: where the next request would begin is not
/// known.
Session::MaybeRefusal Session::inspect_head() {
  const std::string_view head = input_.data().substr(0, exchange_->head_size);
  exchange_->scheme = stream_.is_secure() ? "https" : "http";
  const MaybeRefusal refusal =
      proxy::inspect_head(*generation().blueprint, settings(), peer_, head, *exchange_);
  const bool is_parsed = !exchange_->request.method.empty();
  if (is_parsed) input_.consume(exchange_->head_size);  // the views hold until something is read
  return refusal;
}

}  // namespace weir::proxy
