#include "redis/connection_machine.hpp"

#include "options/redis.hpp"
#include "redis/error_reply.hpp"
#include "redis/remedy.hpp"
#include "redis/server_address.hpp"

namespace weir::redis {
namespace {

constexpr std::string_view reason_separator = ": ";
constexpr std::string_view unsolicited = "unsolicited reply";

/// Bytes of a reason for which there is always room.
constexpr std::size_t reserved_reason = 64;

bool has_socket(ConnectionMachine::State state) {
  return state >= ConnectionMachine::State::opening;
}

std::string late_text(ConnectionMachine::State state, Duration limit) {
  const bool is_resolving = state == ConnectionMachine::State::resolving;
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(limit);
  return std::string(is_resolving ? "name not resolved" : "not ready") + " within " +
         std::to_string(rounded.count()) + " ms";
}

void append_remedy(std::string& why, std::string_view remedy) {
  if (!remedy.empty()) why.append("; ").append(remedy);
}

}  // namespace

ConnectionMachine::ConnectionMachine(const options::Redis& options,
                                     const std::vector<std::string>& scripts, ScriptShas& shas,
                                     std::uint64_t seed)
    : options_(options),
      server_(server_text(options)),
      needs_lookup_(redis::needs_lookup(options)),
      backoff_(seed),
      handshake_(options, scripts, shas) {
  last_error_.reserve(server_.size() + reason_separator.size() + reserved_reason);
}

ConnectionMachine::Actions ConnectionMachine::start(Time now) {
  if (state_ != State::stopped) return unchanged();
  state_ = State::waiting;
  wake_at_ = now;
  return unchanged();
}

ConnectionMachine::Actions ConnectionMachine::stop() {
  state_ = State::stopped;
  wake_at_.reset();
  handshake_.end();
  last_error_ = "stopped";
  last_failure_ = store::Error::none;
  return {.close = true};
}

ConnectionMachine::Actions ConnectionMachine::give_up(std::string_view why, Time now) {
  return has_socket(state_) ? fail(why, now) : unchanged();
}

// ---- one attempt ----

ConnectionMachine::Actions ConnectionMachine::attempt(Time now) {
  attempt_.begin(now, options_.connect_timeout);
  if (!needs_lookup_) return connect_next(now);
  if (options_.topology != options::RedisTopology::standalone) server_ = server_text(options_);
  state_ = State::resolving;
  wake_at_ = attempt_.deadline();
  return {.wake_at = wake_at_, .resolve = true};
}

ConnectionMachine::Actions ConnectionMachine::on_resolved(std::size_t addresses, Time now,
                                                          std::string server) {
  if (state_ != State::resolving) return unchanged();
  if (addresses == 0) return fail("the name has no address", now);
  if (attempt_.is_over(now)) return fail(late_text(state_, options_.connect_timeout), now);
  attempt_.set_addresses(addresses);
  if (!server.empty()) {
    last_error_.reserve(server.size() + reason_separator.size() + reserved_reason);
    server_ = std::move(server);
  }
  return connect_next(now);
}

ConnectionMachine::Actions ConnectionMachine::on_resolve_failed(std::string_view why, Time now) {
  return state_ == State::resolving ? fail(why, now) : unchanged();
}

ConnectionMachine::Actions ConnectionMachine::connect_next(Time now) {
  const ConnectAttempt::Address address = attempt_.next(now);
  state_ = State::opening;
  is_accepted_ = false;
  wake_at_ = address.until;
  return {.wake_at = wake_at_, .connect = address.index};
}

ConnectionMachine::Actions ConnectionMachine::on_opened() {
  if (state_ != State::opening) return unchanged();
  if (!options_.secure) return introduce();
  state_ = State::securing;
  return {.wake_at = wake_at_, .start_tls = true};
}

ConnectionMachine::Actions ConnectionMachine::on_tls_started() {
  return state_ == State::securing ? introduce() : unchanged();
}

ConnectionMachine::Actions ConnectionMachine::on_open_failed(std::string_view why, Time now) {
  const bool expected = state_ == State::opening || state_ == State::securing;
  if (!expected) return unchanged();
  std::string reason(why);
  append_remedy(reason, connect_remedy(why));
  return address_failed(reason, now, store::Error::not_connected);
}

// ---- the handshake ----

ConnectionMachine::Actions ConnectionMachine::introduce() {
  state_ = State::introducing;
  return {.wake_at = wake_at_, .send = handshake_.begin()};
}

ConnectionMachine::Actions ConnectionMachine::on_reply(const HandshakeReply& reply, Time now) {
  using Kind = Handshake::Outcome::Kind;
  if (state_ != State::introducing && state_ != State::loading) return unchanged();
  const Handshake::Outcome outcome = handshake_.on_reply(reply);
  switch (outcome.kind) {
    case Kind::pending:
      return unchanged();
    case Kind::send_scripts:
      state_ = State::loading;
      return {.wake_at = wake_at_, .send = outcome.commands};
    case Kind::complete:
      return become_ready(now);
    case Kind::failed:
      break;
  }
  return fail(outcome.failure, now, outcome.error);
}

ConnectionMachine::Actions ConnectionMachine::become_ready(Time now) {
  state_ = State::ready;
  wake_at_.reset();
  ready_at_ = now;
  handshake_.end();
  last_error_.clear();
  last_failure_ = store::Error::none;
  return {.report = Report::ready};
}

// ---- failures ----

ConnectionMachine::Actions ConnectionMachine::on_closed(std::string_view why, Time now,
                                                        Cause cause) {
  if (!has_socket(state_)) return unchanged();
  const bool is_strange = cause == Cause::reply || why.empty();
  const auto error = is_strange ? store::Error::other : store::Error::not_connected;
  std::string reason = printable(why.empty() ? unsolicited : why);
  if (state_ == State::ready) return fail(reason, now, error);
  // An error before the end explains more than the end: `ERR max number of clients reached`.
  const std::string& explanation = handshake_.optional_error();
  if (state_ > State::securing && !explanation.empty())
    return address_failed(explanation, now, error);
  if (!is_accepted_) {
    append_remedy(reason, connect_remedy(reason));
  } else if (is_strange) {
    append_remedy(reason, remedy(error, reason, options_.topology));
  } else if (cause != Cause::tls) {
    append_remedy(reason, handshake_remedy(HandshakeEnd::closed, options_.secure));
  }
  return address_failed(reason, now, error);
}

ConnectionMachine::Actions ConnectionMachine::on_unsolicited(Time now) {
  return has_socket(state_) ? fail(unsolicited, now, store::Error::other) : unchanged();
}

ConnectionMachine::Actions ConnectionMachine::on_deadline(Time now) {
  if (!wake_at_ || now < *wake_at_) return unchanged();
  if (state_ == State::waiting) return attempt(now);
  constexpr auto error = store::Error::not_connected;
  std::string why = late_text(state_, options_.connect_timeout);
  if (state_ == State::resolving) return fail(why, now, error);
  if (is_accepted_) append_remedy(why, handshake_remedy(HandshakeEnd::silent, options_.secure));
  return address_failed(why, now, error);
}

ConnectionMachine::Actions ConnectionMachine::address_failed(std::string_view why, Time now,
                                                             store::Error error) {
  if (!attempt_.has_next() || attempt_.is_over(now)) return fail(why, now, error);
  Actions actions = connect_next(now);
  actions.close = true;
  return actions;
}

ConnectionMachine::Actions ConnectionMachine::fail(std::string_view why, Time now,
                                                   store::Error error) {
  // In place, so that the reserved memory is kept.
  last_error_.assign(server_).append(reason_separator).append(why);
  if (error == store::Error::refused) last_error_.append("; ").append(refusal_remedy(why));
  return pause(error, now);
}

ConnectionMachine::Actions ConnectionMachine::on_exception(std::string_view why,
                                                           Time now) noexcept {
  if (state_ <= State::waiting) return unchanged();
  last_error_.assign(server_).append(reason_separator).append(why.substr(0, reserved_reason));
  return pause(store::Error::not_connected, now);
}

ConnectionMachine::Actions ConnectionMachine::pause(store::Error error, Time now) {
  last_failure_ = error;
  if (state_ == State::ready) backoff_.on_ready_for(now - ready_at_);
  state_ = State::waiting;
  handshake_.end();
  const bool is_refused = error == store::Error::refused;
  wake_at_ = now + (is_refused ? backoff_.next_longest() : backoff_.next());
  return {.close = true, .wake_at = wake_at_, .report = Report::failed};
}

}  // namespace weir::redis
