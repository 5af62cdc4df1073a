// OpenSSL contexts made from files, shared by all connections of a listener or to an upstream.
//
// Immutable once made. Connections of any thread may use one at the same time, and keep it alive.
// TLS 1.2 and 1.3, elliptic curves only, HTTP/2 and HTTP/1.1 by ALPN, no renegotiation, no
// compression.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tls/material.hpp"
#include "tls/parameters.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace weir::tls {

using NativeContext = std::shared_ptr<ssl_ctx_st>;

struct FreeConnection {
  void operator()(ssl_st* connection) const;
};
using NativeConnection = std::unique_ptr<ssl_st, FreeConnection>;

/// False if this machine's OpenSSL lacks one of the groups or ciphers.
bool is_available(const Parameters& parameters);

/// The context of a listener. The server name in the ClientHello (SNI) selects the certificate; the
/// first is for clients without SNI, or with a name that no certificate is for. Sessions are
/// resumed by tickets on any thread; a new context has new ticket keys.
class ServerContext {
 public:
  static Result<std::shared_ptr<const ServerContext>> load(
      const std::vector<CertificateFiles>& files, const Parameters& parameters = {});

  ssl_ctx_st* native() const { return contexts_.front().native.get(); }
  /// Warnings about certificates that clients will not accept now, or whose key makes handshakes
  /// slow.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// True if a handshake that begins with these bytes may take much longer than usual, because of
  /// the groups that the client offers (may_cost_much() in tls/hello_cost.hpp) or the keys of this
  /// context.
  bool may_cost_much(std::string_view hello) const;
  /// Returns the context whose certificate is for that name, or nullptr.
  ssl_ctx_st* context_for(const char* server_name) const;

 private:
  struct One {
    NativeContext native;
    Certificate certificate;
  };
  std::vector<One> contexts_;
  std::vector<std::string> warnings_;
  std::vector<Group> groups_;
  bool signs_fast_ = true;  ///< with all of the keys
};

/// The context of an upstream, or of Redis. It offers X25519, P-256, P-384 and P-521: the server
/// chooses, and may have a certificate with any of the three curves.
/// The protocols that a client offers by ALPN (RFC 7301).
enum class AlpnOffer : std::uint8_t { http11, http2, http2_or_http11 };

class ClientContext {
 public:
  static Result<std::shared_ptr<const ClientContext>> load(const ClientFiles& files,
                                                           AlpnOffer offer = AlpnOffer::http11);

  /// Makes a connection to a server whose certificate must be for the configured server name, or
  /// else for `host`; nullptr if memory is short.
  NativeConnection connection_to(const std::string& host) const;
  /// Warnings about certificates that servers will not accept now.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  NativeContext native_;
  std::vector<std::string> warnings_;
  std::string server_name_;
};

}  // namespace weir::tls
