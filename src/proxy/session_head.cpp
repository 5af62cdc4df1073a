// Reading a request head, and what it says of the request as a whole.
#include <algorithm>

#include "http/characters.hpp"
#include "identity/client_address.hpp"
#include "proxy/head_parser.hpp"
#include "proxy/session.hpp"

namespace weir::proxy {

Task<Failure> Session::read_head() {
  std::size_t scanned = 0;
  error_code ec;
  if (exchange_) context_.give_back(std::move(exchange_));
  input_.shrink();
  arm(Phase::idle, context_.config.downstream.idle_timeout);
  if (context_.draining) drain();
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
  const auto& limits = context_.config.downstream;
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

/// From bytes to a request that can be passed on, or the reason why not. Until it is through, the
/// connection is not kept: where the next request would begin is not known.
Session::MaybeRefusal Session::inspect_head() {
  const auto line =
      parse_request_head(input_.data().substr(0, exchange_->head_size), exchange_->fields);
  if (!line) return why_refused(input_.data().substr(0, exchange_->head_size), exchange_->fields);
  context_.field_guard.drop_unusual(exchange_->fields);
  auto& request = exchange_->request;
  request.method = line->method;
  request.version_minor = static_cast<std::uint8_t>(line->version % 10);
  request.fields = exchange_->fields;
  input_.consume(exchange_->head_size);  // the views hold until something is read

  if (line->target.size() > context_.config.downstream.max_target)
    return answer_to(Failure::target_too_long);
  if (const auto refusal =
          http::set_target(request, line->target, exchange_->target_storage, raw_bytes()))
    return refusal;
  if (!context_.route_table.accepts_method(request.method)) return routing::lower_case_method;
  const auto framing = http::request_framing(request);
  if (!framing) return framing.error();
  exchange_->body = *framing;
  exchange_->body_is_read = framing->kind == http::Framing::Kind::none ||
                            *framing == http::Framing{http::Framing::Kind::length, 0};
  if (is_too_large(framing->length)) return answer_to(Failure::body_too_large);

  exchange_->connection = http::connection_options(request.fields, context_.kept_fields);
  if (exchange_->connection.too_many) return answer_to(Failure::head_malformed);
  exchange_->keep_alive = !http::wants_close(request.version_minor, exchange_->connection);
  exchange_->scheme = stream_.is_secure() ? "https" : "http";
  note_upgrade();
  exchange_->client = identity::client_address(context_.config.client_address, peer_, request);
  if (repeats_read_field()) return answer_to(Failure::identity_repeated);
  return context_.field_guard.refusal_of(request.fields);
}

/// Of two values of a field that an identity or a route reads the upstream may take the other one.
bool Session::repeats_read_field() const {
  for (const auto& name : context_.kept_fields) {
    std::size_t count = 0;
    for (const auto& field : exchange_->fields)
      count += http::iequals(field.name, name) ? 1 : 0;
    if (count > 1) return true;
  }
  return false;
}

}  // namespace weir::proxy
