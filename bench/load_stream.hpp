// The sockets of bench_load: plain or TLS, all on 127.0.0.1. Every error that a benchmark cannot
// survive throws std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace weir::bench {

/// Throws `what` and the message of errno.
[[noreturn]] void fail(const std::string& what);

/// Returns the descriptor of a listening socket.
int listen_on(std::uint16_t port);

/// The TLS settings of the clients: TLS 1.3 with X25519 and TLS_AES_128_GCM_SHA256 and nothing
/// else, so that every proxy uses the same. Certificates are not verified and sessions not resumed.
class TlsSettings {
 public:
  TlsSettings();
  ssl_ctx_st* native() const { return native_.get(); }

 private:
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> native_;
};

enum class Received : std::uint8_t { data, nothing_yet, end };

/// A connected socket, with TLS or without. Closes it at the end of its life.
class Stream {
 public:
  /// Takes the ownership of a connected, plain socket.
  explicit Stream(int descriptor);
  /// Connects to a proxy; with `tls`, a handshake follows.
  static Stream connect(std::uint16_t port, const TlsSettings* tls);

  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { close(); }

  int descriptor() const { return descriptor_; }
  bool is_ready() const;  ///< false until the handshake is complete
  /// Takes the next step of the handshake; returns whether it is complete.
  bool handshake();

  /// Reads without waiting. `size` is set to the number of bytes read.
  Received receive(std::span<char> room, std::size_t& size);
  /// True if more bytes were read from the socket than receive() has returned.
  bool has_pending() const;
  /// Sends a message that fits the socket's buffer many times over; false if it was not accepted.
  bool send(std::string_view data);
  /// Sends a close_notify in TLS, then closes the socket.
  void close();

 private:
  int descriptor_ = -1;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;  ///< null: plain
};

}  // namespace weir::bench
