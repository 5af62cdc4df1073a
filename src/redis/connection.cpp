#include "redis/connection.hpp"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <new>
#include <utility>

#include <boost/asio/post.hpp>

#include "redis/error_reply.hpp"
#include "redis/server_address.hpp"
#include "tls/context.hpp"

#ifdef WEIR_HAS_REDIS_TLS
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

namespace weir::redis {
namespace {

constexpr std::string_view asking_command = "*1\r\n$6\r\nASKING\r\n";

/// For a command whose reply is of no interest.
class IgnoredReply final : public Recipient {
 public:
  void on_reply(const redisReply& /*reply*/) noexcept override {}
  void on_loss(store::Error /*why*/, std::string_view /*text*/) noexcept override {}
};
IgnoredReply reply_to_asking;

HandshakeReply read_handshake(const redisReply& reply) {
  using Kind = HandshakeReply::Kind;
  switch (reply.type) {
    case REDIS_REPLY_STATUS:
      return {.kind = Kind::status, .text = text_of(reply)};
    case REDIS_REPLY_STRING:
      return {.kind = Kind::string, .text = text_of(reply)};
    case REDIS_REPLY_ERROR:
      return {.kind = Kind::error, .text = text_of(reply)};
    case REDIS_REPLY_ARRAY:
      return {.kind = Kind::array, .text = reply.elements == 0 ? "" : text_of(*reply.element[0])};
    default:
      return {.kind = Kind::other, .text = {}};
  }
}

#ifdef WEIR_HAS_REDIS_TLS

/// Starts TLS before the first byte of a connection. Reads the files each time, so that renewed
/// ones are used. The server's certificate must have the name `server_name`, or `host` if that is
/// empty.
std::optional<Problem> start_redis_tls(redisContext& context, const tls::ClientFiles& files,
                                       const std::string& host) {
  const auto shared = tls::ClientContext::load(files);
  if (!shared) return shared.error();
  tls::NativeConnection connection = (*shared)->connection_to(host);
  if (connection == nullptr) return Problem{"TLS: out of memory"};
  SSL_set_alpn_protos(connection.get(), nullptr, 0);  // ALPN has no name for the protocol of Redis
  SSL_set_read_ahead(connection.get(), 0);  // hiredis polls the socket, not the buffer of OpenSSL
  if (redisInitiateSSL(&context, connection.get()) != REDIS_OK) return Problem{context.errstr};
  static_cast<void>(connection.release());  // the context owns it now
  return std::nullopt;
}

/// Returns and clears the reason of this thread's last error of TLS, which hiredis does not pass
/// on; nullptr if there is none. Lives as long as the process.
const char* take_tls_error() noexcept {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();  // or it would be reported for another connection
  return reason;
}

#else  // the configuration rejects rediss://

std::optional<Problem> start_redis_tls(redisContext&, const tls::ClientFiles&, const std::string&) {
  return Problem{"TLS: this build's hiredis has none"};
}

const char* take_tls_error() noexcept {
  return nullptr;
}

#endif

}  // namespace

Connection::Connection(asio::io_context& io, const options::Redis& options,
                       const std::vector<std::string>& scripts, ScriptShas& shas,
                       std::uint64_t seed, Owner& owner, Locator* locator)
    : io_(io),
      options_(options),
      owner_(owner),
      locator_(locator),
      machine_(options, scripts, shas, seed),
      traffic_{.silence = Silence(options.connect_timeout)},
      host_(options.host),
      timer_(io.get_executor()) {
  // The machine requests a lookup for a name only.
  error_code is_name;
  const auto literal = asio::ip::make_address(options.host, is_name);
  if (!is_name) addresses_.emplace_back(literal, options.port);
}

Connection::~Connection() {
  stop();
}

void Connection::start() noexcept {
  handle([this](Time now) { return machine_.start(now); });
}

void Connection::stop() {
  perform(machine_.stop());
}

void Connection::abandon(std::string_view why) noexcept {
  handle([this, why](Time now) { return machine_.give_up(why, now); });
}

void Connection::abandon_later(std::string_view why) noexcept {
  if (is_leaving_) return;
  try {
    asio::post(io_, [this, watch = presence_.watch(), reason = std::string(why)] {
      if (!watch.expired() && is_leaving_) abandon(reason);
    });
    is_leaving_ = true;
  } catch (const std::bad_alloc&) {
    // The next reply of a replica is another occasion.
  }
}

bool Connection::send(std::string_view command, Recipient& recipient, bool asking) {
  if (!is_ready()) return false;
  if (asking && !append(asking_command, reply_to_asking)) return false;
  return append(command, recipient);
}

void Connection::read_arrived() {
  if (is_ready()) adapter_->read_arrived();
}

// ---- actions ----

/// Carries out what the machine returns for an event. Nothing passes through hiredis or the loop.
template <class Event>
void Connection::handle(Event&& event) noexcept {
  try {
    perform(event(std::chrono::steady_clock::now()));
  } catch (const std::bad_alloc&) {
    recover("out of memory");
  } catch (const std::exception& thrown) {
    recover(thrown.what());
  }
}

/// Closing undoes what was carried out in part. The wait for the next attempt is added in the next
/// pass of the loop, because handlers that are cancelled here have left their memory then.
void Connection::recover(std::string_view why) noexcept {
  static_cast<void>(machine_.on_exception(why, std::chrono::steady_clock::now()));
  if (machine_.state() == ConnectionMachine::State::stopped) return;
  close();
  timer_.cancel();
  wake_at_.reset();
  if (std::exchange(recovery_posted_, true)) return;
  asio::post(io_, recovery_handler_([this, watch = presence_.watch()] {
               if (watch.expired()) return;
               recovery_posted_ = false;
               handle([this](Time now) { return machine_.on_deadline(now); });
               try {
                 owner_.on_failure();
               } catch (const std::exception&) {
                 // The owner can also read last_error() later.
               }
             }));
}

void Connection::perform(const Actions& actions) {
  if (actions.close) close();
  arm(actions.wake_at);
  if (actions.resolve) resolve(*actions.wake_at);
  if (actions.connect) open(*actions.connect);
  if (actions.start_tls) start_tls();
  for (const auto& command : actions.send)
    if (!append(command.text, handshake_)) throw std::bad_alloc();
  // The report is last, because the owner may stop or use this connection.
  if (actions.report == ConnectionMachine::Report::ready) {
    if (locator_ != nullptr) locator_->on_ready();
    owner_.on_ready();
  }
  if (actions.report == ConnectionMachine::Report::failed) owner_.on_failure();
}

/// hiredis calls on_command_end() for the pending commands: at once, or, if this runs within a
/// callback of hiredis, when that callback returns. In the second case no context is opened before
/// the loop runs again.
void Connection::close() {
  lookup_.reset();
  is_leaving_ = false;
  if (locator_ != nullptr) locator_->cancel();
  if (context_ != nullptr) redisAsyncFree(std::exchange(context_, nullptr));
}

void Connection::arm(std::optional<std::chrono::steady_clock::time_point> wake_at) {
  if (wake_at == wake_at_) return;
  wake_at_.reset();
  if (!wake_at) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*wake_at);
  timer_.async_wait(timer_handler_([this, watch = presence_.watch()](error_code ec) {
    if (watch.expired() || ec) return;
    wake_at_.reset();
    handle([this](Time now) { return machine_.on_deadline(now); });
  }));
  wake_at_ = wake_at;
}

void Connection::resolve(Time until) {
  if (locator_ != nullptr) {
    return locator_->locate(until, [this, watch = presence_.watch()](auto found) {
      if (watch.expired()) return;
      handle([&](Time now) {
        if (!found) return machine_.on_resolve_failed(found.error().message, now);
        host_ = found->server.host;
        addresses_ = std::move(found->addresses);
        return machine_.on_resolved(addresses_.size(), now, server_text(found->server));
      });
    });
  }
  lookup_.emplace(io_, options_.host, options_.port, [this](auto found) {
    handle([&](Time now) {
      if (!found) return machine_.on_resolve_failed(found.error().message, now);
      addresses_ = *std::move(found);
      return machine_.on_resolved(addresses_.size(), now);
    });
  });
}

void Connection::open(std::size_t address) {
  const bool tcp = options_.unix_path.empty();
  context_ = tcp ? redisAsyncConnect(addresses_[address].address().to_string().c_str(),
                                     addresses_[address].port())
                 : redisAsyncConnectUnix(options_.unix_path.c_str());
  if (context_ == nullptr || context_->err != 0) {
    const std::string why = context_ == nullptr ? "out of memory" : context_->errstr;
    return perform(machine_.on_open_failed(why, std::chrono::steady_clock::now()));
  }
  context_->data = this;
  adapter_ = std::make_unique<HiredisAdapter>(io_, *context_, options_.secure, *this);
  redisAsyncSetConnectCallback(context_, [](const redisAsyncContext* context, int status) {
    if (status == REDIS_OK) static_cast<Connection*>(context->data)->machine_.on_accepted();
  });
  // Detects a peer that vanished while no question is in flight.
  if (tcp) redisEnableKeepAlive(&context_->c);
  perform(machine_.on_opened());
}

void Connection::start_tls() {
  const auto problem = start_redis_tls(context_->c, options_.tls, host_);
  perform(problem ? machine_.on_open_failed(problem->message, std::chrono::steady_clock::now())
                  : machine_.on_tls_started());
}

bool Connection::append(std::string_view command, Recipient& recipient) {
  const bool is_appended = redisAsyncFormattedCommand(context_, on_command_end, &recipient,
                                                      command.data(), command.size()) == REDIS_OK;
  if (is_appended) ++traffic_.unanswered;
  return is_appended;
}

// ---- events ----

void Connection::on_command_end(redisAsyncContext* context, void* reply, void* recipient) noexcept {
  auto& its_recipient = *static_cast<Recipient*>(recipient);
  auto& connection = *static_cast<Connection*>(context->data);
  --connection.traffic_.unanswered;
  if (reply == nullptr) {
    // hiredis 1 ends the adapter of a lost connection before its commands.
    std::string_view unusable;
    if (context->err == REDIS_ERR_PROTOCOL)
      unusable = context->errstr;
    else if (context == connection.context_ && connection.adapter_ != nullptr)
      unusable = connection.adapter_->reply_error();
    const auto error = unusable.empty() ? store::Error::connection_lost : store::Error::other;
    return its_recipient.on_loss(error, unusable);
  }
  connection.traffic_.silence.on_reply(std::chrono::steady_clock::now());
  ++connection.traffic_.replies;
  // hiredis frees the context after this callback, without calling another.
  if (has_stray_reply(*context)) redisAsyncFree(context);
  its_recipient.on_reply(*static_cast<const redisReply*>(reply));
}

void Connection::on_handshake(const redisReply& reply) noexcept {
  // After a stray reply the context takes no more commands, and its end is the failure.
  if ((context_->c.flags & REDIS_FREEING) != 0) return;
  handle([&](Time now) { return machine_.on_reply(read_handshake(reply), now); });
}

void Connection::on_context_end(std::string_view why) noexcept {
  using Cause = ConnectionMachine::Cause;
  const Cause cause = adapter_->reply_error().empty() ? Cause::connection : Cause::reply;
  adapter_.reset();
  const char* const tls_error = options_.secure ? take_tls_error() : nullptr;
  if (std::exchange(context_, nullptr) == nullptr) return;  // close() ended it
  handle([&](Time now) {
    if (tls_error == nullptr) return machine_.on_closed(why, now, cause);
    return machine_.on_closed(std::string("TLS: ") + tls_error, now, Cause::tls);
  });
}

void Connection::on_stray_bytes() noexcept {
  handle([this](Time now) { return machine_.on_unsolicited(now); });
}

}  // namespace weir::redis
