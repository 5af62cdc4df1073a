#include "load_stream.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weir::bench {

namespace {

sockaddr_in local(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  return descriptor;
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void fail_tls(const std::string& what) {
  throw std::runtime_error(what + ": " + ERR_error_string(ERR_get_error(), nullptr));
}

}  // namespace

void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::system_category().message(errno));
}

int listen_on(std::uint16_t port) {
  const int descriptor = new_socket();
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = local(port);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail("the upstream's port");
  ::listen(descriptor, SOMAXCONN);
  return descriptor;
}

TlsSettings::TlsSettings() : native_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  if (native_ == nullptr || SSL_CTX_set_min_proto_version(native(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set1_groups_list(native(), "X25519") != 1 ||
      SSL_CTX_set_ciphersuites(native(), "TLS_AES_128_GCM_SHA256") != 1)
    fail_tls("TLS settings");
  SSL_CTX_set_verify(native(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_read_ahead(native(), 1);  // one recv per record instead of two
}

Stream::Stream(int descriptor) : descriptor_(descriptor), tls_(nullptr, SSL_free) {
  send_at_once(descriptor);
}

Stream Stream::connect(std::uint16_t port, const TlsSettings* tls) {
  Stream stream(new_socket());
  const sockaddr_in address = local(port);
  if (::connect(stream.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    fail("the proxy does not accept the connection");
  if (tls == nullptr) return stream;
  ::fcntl(stream.descriptor_, F_SETFL, O_NONBLOCK);
  stream.tls_.reset(SSL_new(tls->native()));
  if (stream.tls_ == nullptr || SSL_set_fd(stream.tls_.get(), stream.descriptor_) != 1)
    fail_tls("TLS connection");
  SSL_set_connect_state(stream.tls_.get());
  return stream;
}

Stream::Stream(Stream&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), tls_(std::move(other.tls_)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  tls_ = std::move(other.tls_);
  return *this;
}

bool Stream::is_ready() const {
  return tls_ == nullptr || SSL_is_init_finished(tls_.get()) == 1;
}

bool Stream::handshake() {
  if (is_ready()) return true;
  const int done = SSL_do_handshake(tls_.get());
  if (done == 1) return true;
  if (SSL_get_error(tls_.get(), done) != SSL_ERROR_WANT_READ) fail_tls("TLS handshake");
  return false;
}

Received Stream::receive(std::span<char> room, std::size_t& size) {
  if (tls_ == nullptr) {
    const ssize_t n = ::recv(descriptor_, room.data(), room.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return Received::nothing_yet;
    if (n <= 0) return Received::end;
    size = static_cast<std::size_t>(n);
    return Received::data;
  }
  const int done = SSL_read_ex(tls_.get(), room.data(), room.size(), &size);
  if (done == 1) return Received::data;
  const bool is_waiting = SSL_get_error(tls_.get(), done) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return is_waiting ? Received::nothing_yet : Received::end;
}

bool Stream::has_pending() const {
  return tls_ != nullptr && SSL_has_pending(tls_.get()) == 1;
}

bool Stream::send(std::string_view data) {
  if (tls_ == nullptr)
    return ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(data.size());
  std::size_t written = 0;
  const bool is_sent = SSL_write_ex(tls_.get(), data.data(), data.size(), &written) == 1;
  if (!is_sent) ERR_clear_error();
  return is_sent;
}

void Stream::close() {
  if (descriptor_ < 0) return;
  if (tls_ != nullptr && is_ready()) {
    SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  tls_.reset();
  ::close(std::exchange(descriptor_, -1));
}

}  // namespace weir::bench
