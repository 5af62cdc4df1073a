#include "redis/connection.hpp"

#include <algorithm>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <utility>

#include "redis/backoff.hpp"
#include "redis/error_reply.hpp"
#include "redis/tls.hpp"

namespace weir::redis {
namespace {

constexpr std::string_view stray_reply = "a reply that nobody asked for";

std::string place_of(const Options& options) {
  if (!options.unix_path.empty()) return options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  return (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(options.port);
}

std::string milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

void tell_recipient(redisAsyncContext* context, void* reply, void* recipient) {
  auto& its_recipient = *static_cast<Recipient*>(recipient);
  if (reply != nullptr) {
    // Freed by hiredis after this callback, which is the last of the context then.
    if (has_stray_reply(*context)) redisAsyncFree(context);
    its_recipient.on_reply(*static_cast<const redisReply*>(reply));
  } else {
    its_recipient.on_loss(context->err == REDIS_ERR_PROTOCOL ? StoreError::other
                                                             : StoreError::connection_lost);
  }
}

}  // namespace

Connection::Connection(asio::io_context& io, const Options& options,
                       const std::vector<std::string>& scripts, std::uint64_t seed, Owner& owner)
    : io_(io),
      options_(options),
      scripts_(scripts),
      owner_(owner),
      place_(place_of(options)),
      random_(static_cast<std::minstd_rand::result_type>(seed ^ (seed >> 32))),
      resolver_(io.get_executor()),
      timer_(io.get_executor()),
      shas_(scripts.size()) {}

Connection::~Connection() {
  stop();
}

void Connection::start() {
  if (state_ != State::stopped) return;
  state_ = State::pausing;
  wake_at(SteadyClock::now());
}

void Connection::stop() {
  state_ = State::stopped;
  trouble_ = "stopped";
  ++wake_;
  timer_.cancel();
  resolver_.cancel();
  free_context();
}

void Connection::abandon(const std::string& why) {
  if (state_ == State::ready) fail(why);
}

bool Connection::send(std::string_view command, Recipient& recipient) {
  return state_ == State::ready && append(command, recipient);
}

void Connection::read_arrived() {
  if (state_ == State::ready) adapter_->read_arrived();
}

bool Connection::append(std::string_view command, Recipient& recipient) {
  return redisAsyncFormattedCommand(context_, tell_recipient, &recipient, command.data(),
                                    command.size()) == REDIS_OK;
}

// ---- one attempt ----

void Connection::attempt() {
  attempt_until_ = SteadyClock::now() + options_.connect_timeout;
  addresses_.clear();
  error_code ec;
  const auto literal = asio::ip::make_address(options_.host, ec);
  if (!options_.unix_path.empty()) return connect_next();
  if (ec) return resolve();
  addresses_.emplace_back(literal, options_.port);
  connect_next();
}

void Connection::resolve() {
  state_ = State::resolving;
  wake_at(attempt_until_);
  resolver_.async_resolve(
      options_.host, std::to_string(options_.port),
      [this, watch = presence_.watch(), wake = wake_](error_code ec, const auto& found) {
        if (watch.expired() || wake != wake_) return;
        if (ec) return fail(ec.message());
        for (const auto& entry : found)
          addresses_.insert(addresses_.begin(), entry.endpoint());
        connect_next();
      });
}

void Connection::connect_next() {
  state_ = State::connecting;
  const auto now = SteadyClock::now();
  if (!options_.unix_path.empty()) {
    wake_at(attempt_until_);
    if (!open(nullptr)) return;
  } else {
    // What is left of the time is for all addresses that are left.
    wake_at(now + (attempt_until_ - now) / static_cast<std::int64_t>(addresses_.size()));
    const auto address = addresses_.back();
    addresses_.pop_back();
    if (!open(&address)) return;
  }
  shake_hands();
}

/// False: it failed already, and that was dealt with.
bool Connection::open(const asio::ip::tcp::endpoint* address) {
  context_ = address != nullptr
                 ? redisAsyncConnect(address->address().to_string().c_str(), address->port())
                 : redisAsyncConnectUnix(options_.unix_path.c_str());
  std::string why = "out of memory";
  if (context_ != nullptr && context_->err == 0) {
    context_->data = this;
    adapter_ = std::make_unique<HiredisAdapter>(io_, *context_, options_.secure, *this);
    // Notices a peer that vanished while nothing is asked.
    if (address != nullptr) redisEnableKeepAlive(&context_->c);
    const auto problem =
        options_.secure ? start_tls(context_->c, options_.tls, options_.host) : std::nullopt;
    if (!problem) return true;
    why = problem->message;
  } else if (context_ != nullptr) {
    why = context_->errstr;
  }
  state_ = State::pausing;  // so that its end is not taken for another failure
  free_context();
  address_failed(why);
  return false;
}

void Connection::shake_hands() {
  handshake_replies_ = scripts_loaded_ = 0;
  optional_error_.clear();
  handshake_commands_ = handshake_of(options_, scripts_);
  handshake_.clear();
  handshake_.reserve(handshake_commands_.size());
  say(handshake_commands_.size() - scripts_.size());
}

/// The first `count` commands of the handshake, as far as they have not been said.
void Connection::say(std::size_t count) {
  while (handshake_.size() < count) {
    const HandshakeCommand& command = handshake_commands_[handshake_.size()];
    append(command.text, handshake_.emplace_back(*this, command.step));
  }
}

void Connection::on_handshake(HandshakeCommand::Step step, const redisReply& reply) {
  if (state_ != State::connecting) return;
  const auto said = [&](std::string_view what) {
    if (step == HandshakeCommand::Step::authenticate) what = unquoted(what);
    return std::string(to_string(step)) + ": " + printable(what, options_.password.reveal());
  };
  const bool load = step == HandshakeCommand::Step::load_script;
  if (reply.type == REDIS_REPLY_ERROR) {
    // An ACL that does not let us give ourselves a name is no harm.
    const bool stranger = text_of(reply).starts_with("NOAUTH");
    if (step != HandshakeCommand::Step::set_name || stranger)
      return fail(said(text_of(reply)), error_of(text_of(reply)));
    optional_error_ = said(text_of(reply));
  } else if (load ? reply.type != REDIS_REPLY_STRING || !is_sha(text_of(reply))
                  : reply.type != REDIS_REPLY_STATUS) {
    return fail(said("not an answer of Redis"));
  }
  if (load) shas_[scripts_loaded_++] = text_of(reply);
  if (++handshake_replies_ < handshake_.size()) return;
  // Of a client that it does not know yet Redis does not read as much as a script.
  if (handshake_.size() < handshake_commands_.size()) return say(handshake_commands_.size());
  ++wake_;
  timer_.cancel();
  state_ = State::ready;
  ready_at_ = SteadyClock::now();
  handshake_commands_.clear();  // the password among them
  trouble_.clear();
  owner_.on_ready();
}

// ---- its end ----

void Connection::on_context_end(std::string_view why) {
  context_ = nullptr;
  adapter_.reset();
  const std::string tls_error = options_.secure ? take_tls_error() : std::string();
  if (!tls_error.empty()) why = tls_error;
  if (state_ == State::ready) return fail(printable(why.empty() ? stray_reply : why));
  if (state_ != State::connecting) return;
  // What it said before it hung up tells more: `ERR max number of clients reached`.
  address_failed(optional_error_.empty() ? printable(why.empty() ? stray_reply : why)
                                         : std::string(optional_error_));
}

void Connection::on_stray_bytes() {
  if (state_ == State::connecting || state_ == State::ready) fail(stray_reply);
}

/// hiredis calls back what was pending: within this, or once the callback returns that led here.
/// The next context is made by the loop later than that.
void Connection::free_context() {
  if (context_ != nullptr) redisAsyncFree(std::exchange(context_, nullptr));
}

void Connection::address_failed(std::string_view why) {
  if (addresses_.empty()) return fail(why);
  connect_next();
}

void Connection::fail(std::string_view why, StoreError error) {
  const auto now = SteadyClock::now();
  // A server that answers for a moment only is left alone ever longer too.
  if (state_ == State::ready && now - ready_at_ >= longest_retry_after) failures_ = 0;
  state_ = State::pausing;
  ++failures_;
  trouble_ = place_ + ": " + std::string(why);
  resolver_.cancel();
  free_context();
  // What the configuration says wrong does not become right by asking often.
  if (error == StoreError::refused) failures_ = std::max(failures_, failures_at_longest);
  wake_at(now + retry_after(failures_, random_()));
  owner_.on_failure();
}

void Connection::wake_at(SteadyClock::time_point instant) {
  timer_.expires_at(instant);
  timer_.async_wait([this, watch = presence_.watch(), wake = ++wake_](error_code) {
    if (!watch.expired() && wake == wake_) on_wake();
  });
}

void Connection::on_wake() {
  switch (state_) {
    case State::pausing:
      return attempt();
    case State::resolving:
      return fail("its name was not resolved within " + milliseconds(options_.connect_timeout));
    case State::connecting:
      state_ = State::pausing;
      free_context();
      return address_failed("not ready within " + milliseconds(options_.connect_timeout));
    case State::stopped:
    case State::ready:
      return;
  }
}

}  // namespace weir::redis
