#include "redis/connection_machine.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "redis/backoff.hpp"
#include "redis/error_reply.hpp"

namespace weir::redis {
namespace {

using Step = HandshakeCommand::Step;
using Kind = HandshakeReply::Kind;

constexpr std::string_view unsolicited = "unsolicited reply";

std::string place_of(const Options& options) {
  if (!options.unix_path.empty()) return options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  return (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(options.port);
}

/// Whether the host has to be looked up. The resolver also reads addresses with a zone.
bool is_name(const Options& options) {
  in6_addr address{};
  const char* const host = options.host.c_str();
  return options.unix_path.empty() && inet_pton(AF_INET, host, &address) != 1 &&
         inet_pton(AF_INET6, host, &address) != 1;
}

std::string milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

/// Whether this is what Redis replies when the step succeeds.
bool is_success(Step step, const HandshakeReply& reply) {
  if (step == Step::load_script) return reply.kind == Kind::string && is_sha(reply.text);
  return reply.kind == Kind::status;
}

/// Whether a handshake goes on after this error: an ACL may forbid CLIENT SETNAME, which nothing
/// depends on. NOAUTH is the exception, because every later step would get it too.
bool is_harmless(Step step, std::string_view error) {
  return step == Step::set_name && !error.starts_with("NOAUTH");
}

}  // namespace

ConnectionMachine::ConnectionMachine(const Options& options,
                                     const std::vector<std::string>& scripts, std::uint64_t seed)
    : options_(options),
      scripts_(scripts),
      place_(place_of(options)),
      needs_resolving_(is_name(options)),
      random_(seed),
      shas_(scripts.size()) {}

ConnectionMachine::Actions ConnectionMachine::start(Time now) {
  if (state_ != State::stopped) return unchanged();
  state_ = State::waiting;
  wake_at_ = now;
  return unchanged();
}

ConnectionMachine::Actions ConnectionMachine::stop() {
  state_ = State::stopped;
  wake_at_.reset();
  commands_.clear();
  last_error_ = "stopped";
  return {.close = true};
}

ConnectionMachine::Actions ConnectionMachine::give_up(std::string_view why, Time now) {
  return state_ == State::ready ? fail(why, now) : unchanged();
}

// ---- one attempt ----

ConnectionMachine::Actions ConnectionMachine::attempt(Time now) {
  attempt_until_ = now + options_.connect_timeout;
  next_address_ = 0;
  addresses_ = 1;
  if (!needs_resolving_) return connect_next(now);
  state_ = State::resolving;
  wake_at_ = attempt_until_;
  return {.wake_at = wake_at_, .resolve = true};
}

ConnectionMachine::Actions ConnectionMachine::on_resolved(std::size_t addresses, Time now) {
  if (state_ != State::resolving) return unchanged();
  if (addresses == 0) return fail("the name has no address", now);
  if (now >= attempt_until_) return fail(late(), now);
  addresses_ = addresses;
  return connect_next(now);
}

ConnectionMachine::Actions ConnectionMachine::on_resolve_failed(std::string_view why, Time now) {
  return state_ == State::resolving ? fail(why, now) : unchanged();
}

/// Divides the rest of the attempt's time among the remaining addresses.
ConnectionMachine::Actions ConnectionMachine::connect_next(Time now) {
  const auto left = static_cast<std::int64_t>(addresses_ - next_address_);
  state_ = State::opening;
  wake_at_ = now + (attempt_until_ - now) / left;
  return {.wake_at = wake_at_, .connect = next_address_++};
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
  return expected ? address_failed(why, now) : unchanged();
}

// ---- the handshake ----

/// Redis limits the size of queries of unauthenticated clients, so the scripts are sent when
/// everything before them has succeeded.
ConnectionMachine::Actions ConnectionMachine::introduce() {
  commands_ = handshake_of(options_, scripts_);
  sent_ = answered_ = scripts_loaded_ = 0;
  optional_error_.clear();
  state_ = State::introducing;
  return send_up_to(commands_.size() - scripts_.size());
}

ConnectionMachine::Actions ConnectionMachine::send_up_to(std::size_t end) {
  const auto commands = std::span(commands_).subspan(sent_, end - sent_);
  sent_ = end;
  return {.wake_at = wake_at_, .send = commands};
}

ConnectionMachine::Actions ConnectionMachine::on_reply(const HandshakeReply& reply, Time now) {
  if (state_ != State::introducing && state_ != State::loading) return unchanged();
  const Step step = commands_[answered_].step;
  const auto describe = [&](std::string_view what) {
    if (step == Step::authenticate) what = unquoted(what);
    return std::string(to_string(step)) + ": " + printable(what, options_.password.reveal());
  };
  if (reply.kind == Kind::error) {
    if (!is_harmless(step, reply.text))
      return fail(describe(reply.text), now, error_of(reply.text));
    optional_error_ = describe(reply.text);
  } else if (!is_success(step, reply)) {
    return fail(describe("not a reply of Redis"), now);
  }
  if (step == Step::load_script) set_sha(scripts_loaded_++, reply.text);
  if (++answered_ < sent_) return unchanged();
  if (sent_ == commands_.size()) return become_ready(now);
  state_ = State::loading;
  return send_up_to(commands_.size());
}

ConnectionMachine::Actions ConnectionMachine::become_ready(Time now) {
  state_ = State::ready;
  wake_at_.reset();
  ready_at_ = heard_at_ = now;
  commands_.clear();
  last_error_.clear();
  return {.report = Report::ready};
}

// ---- failures ----

ConnectionMachine::Actions ConnectionMachine::on_closed(std::string_view why, Time now) {
  if (!is_connecting() && state_ != State::ready) return unchanged();
  const std::string reason = printable(why.empty() ? unsolicited : why);
  if (state_ == State::ready) return fail(reason, now);
  // An error before the end explains more than the end: `ERR max number of clients reached`.
  const bool explained = state_ > State::securing && !optional_error_.empty();
  return address_failed(explained ? std::string(optional_error_) : reason, now);
}

ConnectionMachine::Actions ConnectionMachine::on_unsolicited(Time now) {
  return is_connecting() || state_ == State::ready ? fail(unsolicited, now) : unchanged();
}

ConnectionMachine::Actions ConnectionMachine::on_deadline(Time now) {
  if (!wake_at_ || now < *wake_at_) return unchanged();
  if (state_ == State::waiting) return attempt(now);
  if (state_ == State::resolving) return fail(late(), now);
  return address_failed(late(), now);
}

ConnectionMachine::Actions ConnectionMachine::address_failed(std::string_view why, Time now) {
  if (next_address_ == addresses_ || now >= attempt_until_) return fail(why, now);
  Actions actions = connect_next(now);
  actions.close = true;
  return actions;
}

ConnectionMachine::Actions ConnectionMachine::fail(std::string_view why, Time now,
                                                   store::Error error) {
  // A connection that lasts a moment counts as another failure, so that pauses keep growing.
  if (state_ == State::ready && now - ready_at_ >= longest_retry_after) failures_ = 0;
  failures_ = std::min(failures_, failures_at_longest) + 1;
  // Repeating the attempt soon does not correct a wrong password.
  if (error == store::Error::refused) failures_ = std::max(failures_, failures_at_longest);
  last_error_ = place_ + ": " + std::string(why);
  state_ = State::waiting;
  commands_.clear();
  wake_at_ = now + retry_after(failures_, random_.next());
  return {.close = true, .wake_at = wake_at_, .report = Report::failed};
}

std::string ConnectionMachine::late() const {
  const std::string_view what = state_ == State::resolving ? "name not resolved" : "not ready";
  return std::string(what) + " within " + milliseconds(options_.connect_timeout);
}

}  // namespace weir::redis
