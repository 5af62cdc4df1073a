#include "tls/channel.hpp"

#include <cerrno>
#include <cstring>

#include "tls/openssl.hpp"

namespace weir::tls {
namespace {

/// True if the connection ended without a TLS alert and without data.
bool is_cut(int error) {
  return error == SSL_ERROR_SYSCALL ||
         ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

}  // namespace

Channel::Channel(const std::shared_ptr<const ServerContext>& context, int descriptor)
    : context_(context), ssl_(SSL_new(context->native())) {
  if (ssl_ == nullptr) return;
  SSL_set_fd(ssl_.get(), descriptor);
  SSL_set_accept_state(ssl_.get());
}

Channel::Channel(const std::shared_ptr<const ClientContext>& context, int descriptor,
                 const std::string& host)
    : context_(context), ssl_(context->connection_to(host)) {
  if (ssl_ != nullptr) SSL_set_fd(ssl_.get(), descriptor);
}

Channel::State Channel::handshake() {
  if (ssl_ == nullptr) return state_after(-1);
  ERR_clear_error();
  errno = 0;
  const State state = state_after(SSL_do_handshake(ssl_.get()));
  established_ = state == State::done;
  return state;
}

std::string_view Channel::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

Channel::Step Channel::read(char* to, std::size_t size) {
  std::size_t bytes = 0;
  ERR_clear_error();
  errno = 0;
  const State state = state_after(SSL_read_ex(ssl_.get(), to, size, &bytes));
  return {.state = state, .bytes = bytes};
}

/// Writes as many records as the descriptor accepts.
Channel::Step Channel::write(std::string_view data) {
  std::size_t sent = 0;
  while (sent < data.size()) {
    std::size_t bytes = 0;
    ERR_clear_error();
    errno = 0;
    const State state =
        state_after(SSL_write_ex(ssl_.get(), data.data() + sent, data.size() - sent, &bytes));
    if (state != State::done) return {.state = state, .bytes = sent};
    sent += bytes;
  }
  return {.state = State::done, .bytes = sent};
}

Channel::State Channel::look() {
  char byte = 0;
  std::size_t bytes = 0;
  ERR_clear_error();
  errno = 0;
  return state_after(SSL_peek_ex(ssl_.get(), &byte, 1, &bytes));
}

/// SSL_has_pending() does not count a record header without any content yet.
bool Channel::is_quiet() {
  return look() == State::wants_read && SSL_has_pending(ssl_.get()) == 0 &&
         std::string_view(SSL_rstate_string(ssl_.get())) == "RH";
}

bool Channel::holds_unread() const {
  return SSL_has_pending(ssl_.get()) == 1;
}

Channel::State Channel::end() {
  if (!established_ || broken_) return State::done;
  // Once it is sent, another call would wait for the peer's close_notify.
  const bool has_begun = (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0;
  if (has_begun && !end_is_pending_) return State::done;
  ERR_clear_error();
  const int returned = SSL_shutdown(ssl_.get());
  end_is_pending_ = returned < 0 && SSL_get_error(ssl_.get(), returned) == SSL_ERROR_WANT_WRITE;
  ERR_clear_error();
  return end_is_pending_ ? State::wants_write : State::done;
}

Channel::State Channel::state_after(int returned) {
  if (returned > 0) return State::done;
  const int saved_errno = errno;
  const int error = ssl_ == nullptr ? SSL_ERROR_SSL : SSL_get_error(ssl_.get(), returned);
  if (error == SSL_ERROR_WANT_READ) return State::wants_read;
  if (error == SSL_ERROR_WANT_WRITE) return State::wants_write;
  if (error == SSL_ERROR_ZERO_RETURN) return State::ended;
  broken_ = true;
  const bool verifies = ssl_ != nullptr && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE;
  const long verdict = verifies ? SSL_get_verify_result(ssl_.get()) : X509_V_OK;
  if (!established_ && verdict != X509_V_OK) {
    last_error_ =
        std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(verdict);
    const char* const expected = X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl_.get()), 0);
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH && expected != nullptr)
      last_error_.append(" (it is not for \"").append(expected).append("\")");
    ERR_clear_error();
  } else if (established_ && is_cut(error)) {
    ERR_clear_error();  // not an error of TLS
  } else if (ERR_peek_error() != 0) {
    const unsigned long code = ERR_peek_error();
    const int reason = ERR_GET_REASON(code);
    const bool is_alert = ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET &&
                          reason < SSL_AD_REASON_OFFSET + 256;
    last_error_ = (is_alert ? "it refuses us: " : "") + take_reason();
  } else {
    last_error_ = saved_errno == 0 ? "the connection was closed" : std::strerror(saved_errno);
  }
  return State::broken;
}

}  // namespace weir::tls
